#include "api/cli/produce_run.hpp"

#include "api/cli/jsonl.hpp"

#include <partita/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t chunk_bytes = 256 * 1024;
/// Longer than any record a broker takes by a wide margin.
constexpr std::size_t record_bytes_max = 64 * 1024 * 1024;
/// The answer that frees room may be counted a moment before the room is free.
constexpr std::chrono::milliseconds room_wait_max = 20ms;
/// The status is for the summary only.
constexpr std::chrono::milliseconds status_wait_max = 2s;

}  // namespace

produce_run::produce_run(const produce_options& options, input_file& input,
                         dead_letter_file& letters, progress_display& display)
    : options_(options),
      input_(input),
      letters_(letters),
      display_(display),
      lines_(options.record_delimiter, record_bytes_max),
      begin_(std::chrono::steady_clock::now()) {}

std::chrono::milliseconds produce_run::elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin_);
}

void produce_run::show_progress() {
  take_answered();
  display_.update({input_.bytes_read(), input_.size(), accepted_, ledger_.counts(), elapsed()});
}

run_summary produce_run::run(const producer_config& config) {
  stops_at_failure_ = config.on_failure == failure_policy::halt_partition;
  producer_ = std::make_unique<producer>(config);
  read_all();
  flush();
  run_summary summary;
  run_facts facts;
  if (waker_.interrupts() < 2) ask_why(facts, summary);
  producer_.reset();  // answers what is left
  take_answered();
  display_.finish();
  if (letter_error_)
    display_.say("partita: " + letters_.path() + ": " + letter_error_.message() +
                 "; not all that failed is in it");
  summary.first_failed_line = first_failed_line_;
  summary.ledger = ledger_.view();
  summary.accepted = accepted_;
  summary.bad_lines = bad_lines_;
  summary.elapsed = elapsed();
  facts.counts = summary.ledger.counts;
  facts.interrupted = summary.interrupted = waker_.interrupts() > 0;
  facts.bad_input = bad_input_ || letter_error_;
  facts.skipped_input = bad_lines_ > 0;
  facts.denied = summary.ledger.denied;
  facts.halted = summary.ledger.halted = facts.halted || summary.ledger.halted;
  // A cluster that took or may have taken records is not out of reach.
  const tally& counts = facts.counts;
  facts.unreachable = counts.delivered == 0 && counts.unknown == 0 && counts.not_written > 0 &&
                      (summary.ledger.unreachable || !summary.unreachable.empty());
  if (!facts.unreachable) summary.unreachable.clear();
  summary.exit_code = exit_code_of(facts);
  return summary;
}

void produce_run::read_all() {
  std::vector<char> chunk(chunk_bytes);
  while (ending_ == ending::none) {
    show_progress();
    const bool readable = waker_.wait(input_.descriptor(), display_.interval());
    if (waker_.interrupts() > 0) {
      ending_ = ending::interrupted;
      break;
    }
    if (ends_by_failure()) break;
    if (!readable) continue;
    std::error_code error;
    const std::size_t count = input_.read(chunk.data(), chunk.size(), error);
    if (error == std::errc::interrupted || error == std::errc::operation_would_block) continue;
    if (error) {
      display_.say("partita: " + input_.name() + ": " + error.message());
      bad_input_ = true;
      ending_ = ending::bad_line;
      break;
    }
    if (count == 0)
      lines_.finish();
    else
      lines_.append({chunk.data(), count});
    take_lines();
    if (count == 0 && ending_ == ending::none) ending_ = ending::end_of_input;
  }
}

void produce_run::take_lines() {
  line_input::line line;
  while (ending_ == ending::none && !ends_by_failure() && lines_.next(line)) take_line(line);
}

void produce_run::take_line(const line_input::line& line) {
  if (options_.format == input_format::jsonl && !line.too_long && is_blank(line.bytes)) return;
  input_record what;
  if (const std::optional<input_error> error = parse(line, what))
    return refuse(line.number, *error);
  produce(what, line.number);
  if (options_.count != 0 && accepted_ >= options_.count && ending_ == ending::none)
    ending_ = ending::limit_reached;
}

std::optional<input_error> produce_run::parse(const line_input::line& line,
                                              input_record& into) const {
  if (line.too_long)
    return input_error{0, "longer than " + std::to_string(record_bytes_max) + " bytes"};
  if (options_.format == input_format::jsonl) {
    if (auto error = parse_jsonl(line.bytes, into)) return error;
    if (!into.topic && options_.topic.empty())
      return input_error{0, "no \"topic\", and no -t was given"};
  } else {
    const key_and_value parts = split_key(line.bytes, options_.key_delimiter);
    if (parts.key) into.key = std::string(*parts.key);
    into.value = std::string(parts.value);
  }
  if (options_.empty_is_null && into.value && into.value->empty()) into.value.reset();
  return std::nullopt;
}

void produce_run::refuse(std::uint64_t line, const input_error& error) {
  std::string where = input_.name() + ":" + std::to_string(line);
  if (error.column != 0) where += ":" + std::to_string(error.column);
  display_.say("partita: " + where + ": " + error.reason);
  if (options_.skip_bad_lines) {
    ++bad_lines_;
    return;
  }
  display_.say("partita: stopped there; --skip-bad-lines goes on behind such lines");
  bad_input_ = true;
  ending_ = ending::bad_line;
}

void produce_run::produce(const input_record& what, std::uint64_t line) {
  record given;
  given.topic = what.topic ? std::string_view(*what.topic) : std::string_view(options_.topic);
  if (what.key)
    given.key = *what.key;
  else if (options_.fixed_key)
    given.key = *options_.fixed_key;
  if (what.value) given.value = *what.value;
  headers_.clear();
  // What a dead-letter file got by an earlier -H is not added again.
  for (const owned_header& each : options_.headers)
    if (std::find(what.headers.begin(), what.headers.end(), each) == what.headers.end())
      headers_.push_back({each.key, each.value});
  for (const owned_header& each : what.headers) headers_.push_back({each.key, each.value});
  given.headers = headers_;
  given.partition = what.partition;
  if (!given.partition && options_.partition) given.partition = partition_id(*options_.partition);
  given.timestamp = what.timestamp;

  if (last_topic_ == nullptr || last_topic_->name != given.topic)
    last_topic_ = &ledger_.topic(given.topic);
  if (!wait_for_older()) return;
  open_records::entry& entry = open_.add(*last_topic_, line, kept(given));
  if (offer(given, entry) == admission::accepted)
    ++accepted_;
  else
    open_.withdraw_last();
}

/// A copy for the dead-letter file, if there is one.
std::unique_ptr<input_record> produce_run::kept(const record& what) const {
  if (!letters_.is_open()) return nullptr;
  auto copy = std::make_unique<input_record>();
  copy->topic = std::string(what.topic);
  if (what.key) copy->key = std::string(*what.key);
  if (what.value) copy->value = std::string(*what.value);
  for (const header& each : what.headers) {
    owned_header& made = copy->headers.emplace_back();
    made.key = std::string(each.key);
    if (each.value) made.value = std::string(*each.value);
  }
  copy->partition = what.partition;
  copy->timestamp = what.timestamp;
  return copy;
}

/// False: the user or a failure ends the reading.
bool produce_run::wait_for_older() {
  take_answered();
  while (open_.is_full()) {
    waits_for_room_.store(true);
    waker_.wait(-1, room_wait_max);
    show_progress();
    if (waker_.interrupts() > 0) ending_ = ending::interrupted;
    if (ending_ != ending::none || ends_by_failure()) return false;
  }
  return true;
}

bool produce_run::ends_by_failure() {
  if (ending_ == ending::none && letter_error_) ending_ = ending::bad_line;
  if (ending_ == ending::none && stops_at_failure_ && open_.any_failed()) {
    display_.say("partita: stopped reading " + input_.name() +
                 ": a record failed (--on-error skip goes on)");
    ending_ = ending::halted;
  }
  return ending_ != ending::none;
}

void produce_run::take_answered() {
  open_.take_answered([this](const open_records::entry& each) {
    const failed* failure = each.failure();
    if (failure == nullptr) return;
    if (first_failed_line_ == 0) first_failed_line_ = each.line();
    if (each.content() == nullptr || letter_error_) return;
    const std::string source = input_.name() + ":" + std::to_string(each.line());
    letter_error_ = letters_.append(dead_letter_line(*each.content(), *failure, source));
  });
}

/// Waits for room as long as the user lets us: records that are answered, at the latest at their
/// deadlines, make some.
admission produce_run::offer(const record& what, open_records::entry& entry) {
  auto* const open = &entry;
  for (;;) {
    const admission answer =
        producer_->try_produce(what, [open](const outcome& result) { open->answer(result); });
    if (answer != admission::full) return answer;
    if (ends_by_failure()) return admission::full;
    look_for_halts();
    if (stuck_) {
      // Failed records keep their room for a recovery that does not come: waiting would not end.
      display_.say("partita: stopped reading: a halted partition leaves no room in buffer.memory");
      ending_ = ending::halted;
      return admission::full;
    }
    waits_for_room_.store(true);
    waker_.wait(-1, room_wait_max);
    show_progress();
    if (waker_.interrupts() > 0) {
      ending_ = ending::interrupted;
      return admission::full;
    }
  }
}

/// Asks which partitions or keys are halted, once at a time, and only when something failed. What
/// is held or kept for a recovery makes no room; while anything else is under way it is worth
/// waiting.
void produce_run::look_for_halts() {
  if (stuck_ || ledger_.counts().all_delivered() || looking_.exchange(true)) return;
  producer_->status().then([this](const producer_status& told) {
    bool halted = false;
    bool moving = false;
    for (const partition_status& each : told.partitions) {
      halted = halted || each.state == partition_state::halted || each.halted_keys > 0;
      moving = moving || each.buffered_records > each.held_records;
    }
    looking_ = false;
    if (!halted || moving) return;
    stuck_ = true;
    waker_.wake();
  });
}

void produce_run::after_answer(void* self) noexcept {
  auto& run = *static_cast<produce_run*>(self);
  if (run.waits_for_room_.load(std::memory_order_relaxed) && run.waits_for_room_.exchange(false))
    run.waker_.wake();
}

void produce_run::after_failure(void* self) noexcept {
  static_cast<produce_run*>(self)->waker_.wake();
}

void produce_run::flush() {
  const auto wake_when_done = [this](const auto&) {
    flushed_ = true;
    waker_.wake();
  };
  // What is held behind a halt would only wait for its deadline.
  bool closing = waker_.interrupts() > 0 || stuck_;
  if (closing)
    producer_->close(options_.interrupt_timeout()).then(wake_when_done);
  else
    producer_->flush().then(wake_when_done);
  while (!flushed_ && waker_.interrupts() < 2) {
    show_progress();
    waker_.wait(-1, display_.interval());
    if (!closing) look_for_halts();
    if (!closing && (waker_.interrupts() > 0 || stuck_)) {
      closing = true;
      flushed_ = false;
      producer_->close(options_.interrupt_timeout()).then(wake_when_done);
    }
  }
}

/// What the outcomes do not tell: a partition that the last of them halted, and why nothing could
/// be sent.
void produce_run::ask_why(run_facts& facts, run_summary& summary) {
  if (ledger_.counts().all_delivered()) return;
  producer_->status().then([this](const producer_status& told) {
    status_ = told;
    status_told_ = true;
    waker_.wake();
  });
  const auto give_up = std::chrono::steady_clock::now() + status_wait_max;
  while (!status_told_ && waker_.interrupts() < 2 && std::chrono::steady_clock::now() < give_up)
    waker_.wait(-1, 100ms);
  if (!status_told_) return;
  const producer_status& status = status_;
  facts.halted = std::any_of(
      status.partitions.begin(), status.partitions.end(),
      [](const auto& at) { return at.state == partition_state::halted || at.halted_keys > 0; });
  if (is_unreachable(status.metadata_error))
    summary.unreachable = status.metadata_error_text.empty() ? status.metadata_error.message()
                                                             : status.metadata_error_text;
}

}  // namespace partita::cli
