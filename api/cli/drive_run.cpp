#include "api/cli/drive_run.hpp"

#include "api/cli/jsonl.hpp"

#include <partita/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <string_view>
#include <utility>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t chunk_bytes = 64 * 1024;
constexpr std::size_t line_bytes_max = 64 * 1024 * 1024;
/// How long a command may hold up the script when it does not say.
constexpr milliseconds wait_default = 120s;
/// Operations end by themselves; this only bounds the wait for one that does not.
constexpr milliseconds wait_for_the_end_max = 60s;

drive_place place_of(const drive_command& command) {
  return {command.topic, command.partition, command.key};
}

record view_of(const input_record& content, std::vector<header>& headers) {
  record view;
  view.topic = *content.topic;
  if (content.key) view.key = *content.key;
  if (content.value) view.value = *content.value;
  headers.clear();
  for (const owned_header& each : content.headers) headers.push_back({each.key, each.value});
  view.headers = headers;
  view.partition = content.partition;
  view.timestamp = content.timestamp;
  return view;
}

}  // namespace

/// A coroutine that nobody waits for.
struct drive_run::detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

drive_run::drive_run(input_file& input)
    : input_(input), lines_("\n", line_bytes_max), begin_(std::chrono::steady_clock::now()) {}

exit_code drive_run::run(const producer_config& config) {
  close_deadline_ = config.delivery_timeout;
  producer_ = std::make_unique<producer>(config);
  partition_events_.emplace(producer_->events());
  watch();
  read_all();
  reading_ = false;
  if (producer_ && !closed_ && waker_.interrupts() == 0) close(close_deadline_, false);
  const auto all_told = [this] { return records_.counts().open() == 0 && pending_.load() == 0; };
  if (producer_) static_cast<void>(wait_until(all_told, close_deadline_ + wait_for_the_end_max));
  producer_.reset();  // answers what an interrupt left, and who waits for a settlement
  write_events();
  if (waker_.interrupts() > 0) return exit_code::interrupted;
  return output_error_ || input_error_ ? exit_code::usage : exit_code::ok;
}

// Input

void drive_run::read_all() {
  std::vector<char> chunk(chunk_bytes);
  for (bool ended = false; !ended && !ends_early();) {
    write_events();
    if (!waker_.wait(input_.descriptor(), 1h)) continue;
    std::error_code error;
    const std::size_t count = input_.read(chunk.data(), chunk.size(), error);
    if (error == std::errc::interrupted || error == std::errc::operation_would_block) continue;
    if (error) complain(line_, {}, input_.name() + ": " + error.message());
    input_error_ = static_cast<bool>(error);
    ended = error || count == 0;
    if (ended)
      lines_.finish();
    else
      lines_.append({chunk.data(), count});
    take_lines();
  }
}

void drive_run::take_lines() {
  line_input::line line;
  while (!ends_early() && lines_.next(line)) {
    take_line(line);
    write_events();
  }
}

void drive_run::take_line(const line_input::line& line) {
  line_ = line.number;
  if (line.too_long) return complain(line_, {}, "the line is too long");
  if (is_blank(line.bytes)) return;
  drive_command command;
  if (const std::string error = parse_drive_command(line.bytes, command); !error.empty())
    return complain(command, error);
  carry_out(command);
}

void drive_run::carry_out(drive_command& command) {
  const bool needs_producer =
      command.action != drive_action::await && command.action != drive_action::wait;
  if (needs_producer && !producer_) return complain(command, "the producer was destroyed");
  switch (command.action) {
    case drive_action::produce:
      return produce(command.records.front(), command);
    case drive_action::produce_batch:
      return produce_batch(command);
    case drive_action::cancel:
      return cancel(command);
    case drive_action::settle:
      return settle(command);
    case drive_action::await:
      return await_record(command);
    case drive_action::flush:
      return flush(command);
    case drive_action::pause:
      return pause(command);
    case drive_action::resume:
      return resume(command);
    case drive_action::recover:
      return recover(command);
    case drive_action::status:
      return status(command);
    case drive_action::wait:
      static_cast<void>(wait_until([] { return false; }, command.pause_of_script));
      return;
    case drive_action::close:
      return close(command.deadline.value_or(close_deadline_), command.wait_for_it);
    case drive_action::destroy:
      return destroy();
  }
}

// Commands

void drive_run::produce(named_record& given, const drive_command& command) {
  const auto at = records_.add(std::move(given), record_handle::make());
  if (!at) return complain(command, "the name is taken");
  produce_one(*at);
  if (command.wait_for_it) wait_or_complain(command, [&] { return records_.is_answered(*at); });
}

/// Room in buffer.memory is waited for by the coroutine, not by the script.
drive_run::detached drive_run::produce_one(driven_records::position at) {
  std::vector<header> headers;
  const named_record& given = records_.record(at);
  const record what = view_of(given.content, headers);
  produce_options options;
  options.handle = records_.handle(at);
  options.delivery_timeout = given.deadline;
  const outcome answer = co_await producer_->produce(what, options);
  answered(at, answer, false);
}

void drive_run::produce_batch(drive_command& command) {
  produce_options options;
  options.delivery_timeout = command.records.front().deadline;
  for (const named_record& each : command.records) {
    if (each.deadline != options.delivery_timeout)
      return complain(command, "the records of a batch have one deadline");
    if (records_.find(each.name)) return complain(command, "a name is taken: " + each.name);
  }
  std::vector<driven_records::position> positions;
  for (named_record& each : command.records) {
    const auto at = records_.add(std::move(each));
    if (!at) complain(command, "a name is there twice; its first record alone is produced");
    if (at) positions.push_back(*at);
  }
  std::vector<record> batch;
  std::vector<std::vector<header>> headers(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i)
    batch.push_back(view_of(records_.record(positions[i]).content, headers[i]));
  producer_->produce_batch(batch, options,
                           [this, positions](std::size_t index, const outcome& answer) {
                             answered(positions[index], answer, false);
                           });
  if (command.wait_for_it)
    wait_or_complain(command, [&] {
      return std::all_of(positions.begin(), positions.end(),
                         [&](auto at) { return records_.is_answered(at); });
    });
}

void drive_run::cancel(const drive_command& command) {
  const auto at = records_.find(command.name);
  if (!at) return complain(command, "no record has the name " + command.name);
  record_handle handle = records_.handle(*at);
  if (records_.is_answered(*at)) return complain(command, "answered before: nothing was changed");
  if (!handle) return complain(command, "a record of a batch can not be cancelled alone");
  if (!producer_->cancel(handle)) complain(command, "cancelled before: nothing was changed");
}

void drive_run::settle(const drive_command& command) {
  const auto at = records_.find(command.name);
  if (!at) return complain(command, "no record has the name " + command.name);
  const std::optional<ticket> which = records_.ticket_of(*at);
  if (!which) return complain(command, "its fate is not unknown: nothing to settle");
  follow(producer_->settle(*which), command,
         [this, name = command.name](const settlement& verdict) {
           tell([&](drive_time now) { return settled_event(now, name, verdict); });
         });
}

void drive_run::flush(const drive_command& command) {
  operation<tally> work = !command.topic ? producer_->flush()
                          : !command.partition
                              ? producer_->flush(*command.topic)
                              : producer_->flush(*command.topic, *command.partition);
  follow(std::move(work), command, [this, place = place_of(command)](const tally& counts) {
    tell([&](drive_time at) { return flushed_event(at, place, counts); });
  });
}

void drive_run::pause(const drive_command& command) {
  const pause_mode mode = command.abort_buffered ? pause_mode::abort_buffered : pause_mode::hold;
  follow(producer_->pause(*command.topic, *command.partition, mode), command,
         [this, line = line_, verb = command.verb](bool known) {
           if (!known) complain(line, verb, "no such partition is known");
         });
}

void drive_run::resume(const drive_command& command) {
  follow(producer_->resume(*command.topic, *command.partition), command,
         [this, line = line_, verb = command.verb](bool known) {
           if (!known) complain(line, verb, "no such partition is known");
         });
}

void drive_run::recover(const drive_command& command) {
  const recover_options options{.allow_duplicates = command.allow_duplicates};
  follow(command.key ? producer_->recover(*command.topic, *command.partition, *command.key,
                                          command.how, options)
                     : producer_->recover(*command.topic, *command.partition, command.how, options),
         command, [this, command, line = line_](const recovery_report& report) {
           recovered(report, command, line);
         });
}

void drive_run::recovered(const recovery_report& report, const drive_command& command,
                          std::uint64_t line) {
  if (!report.was_halted) return complain(line, command.verb, "not halted: nothing was changed");
  if (command.how == recovery::take) {
    std::vector<owned_record> taken;
    for (const taken_record& each : report.taken) taken.push_back(each.record);
    const std::vector<std::string> names = records_.names_of(taken);
    tell([&](drive_time at) { return returned_event(at, place_of(command), names); });
  }
  const auto known = records_.sent_again(place_of(command), report.resubmitted);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i])
      answered(*known[i], report.resubmitted[i].answer, true);
    else
      complain(line, command.verb, "a record was answered that this script did not produce");
  }
}

/// Held up for it: an answer that shows what later lines did would mislead.
void drive_run::status(drive_command& command) {
  command.wait_for_it = true;
  follow(producer_->status(), command, [this](const producer_status& told) {
    const drive_counts counts = records_.counts();
    tell([&](drive_time at) { return status_event(at, counts, told); });
  });
}

void drive_run::close(milliseconds deadline, bool wait_for_it) {
  closed_ = true;
  drive_command command;
  command.verb = "close";
  command.wait_for_it = wait_for_it;
  command.timeout = deadline + wait_default;
  follow(producer_->close(deadline), command, [this](const close_report& report) {
    const std::vector<std::string> names = records_.names_of(report.unsent);
    tell([&](drive_time at) { return closed_event(at, names, report.answered); });
  });
}

void drive_run::destroy() { producer_.reset(); }

void drive_run::await_record(const drive_command& command) {
  const auto at = records_.find(command.name);
  if (!at) return complain(command, "no record has the name " + command.name);
  wait_or_complain(command, [&] { return records_.is_answered(*at); });
}

/// The next event asks for the one after it, until the producer is gone.
void drive_run::watch() {
  partition_events_->next().then([this](const std::optional<partition_event>& event) {
    if (!event) return;
    const bool told =
        event->change == partition_change::halted || event->change == partition_change::resumed;
    if (told) tell([&](drive_time at) { return partition_event_line(at, *event); });
    watch();
  });
}

// Waiting

template <class Result, class Then>
void drive_run::follow(operation<Result>&& work, const drive_command& command, Then then) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  // What became of a record may never be known while nothing newer is produced.
  const std::uint64_t held_up = command.action == drive_action::settle ? 0 : 1;
  pending_ += held_up;
  std::move(work).then([this, done, held_up, then = std::move(then)](const Result& result) {
    then(result);
    *done = true;
    pending_ -= held_up;
    waker_.wake();
  });
  if (command.wait_for_it) wait_or_complain(command, [done] { return done->load(); });
}

void drive_run::wait_or_complain(const drive_command& command, const std::function<bool()>& done) {
  const milliseconds longest = command.timeout.value_or(wait_default);
  if (wait_until(done, longest) || ends_early()) return;
  complain(command, "not done within " + std::to_string(longest.count()) + " ms");
}

bool drive_run::wait_until(const std::function<bool()>& done, milliseconds longest) {
  const auto give_up = std::chrono::steady_clock::now() + longest;
  for (;;) {
    write_events();
    if (done()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now >= give_up || ends_early()) return false;
    waker_.wait(-1, std::chrono::ceil<milliseconds>(give_up - now));
  }
}

// Events

void drive_run::answered(driven_records::position at, const outcome& answer, bool resubmitted) {
  const std::string name = records_.name(at);
  records_.answered(at, answer);
  tell([&](drive_time now) { return outcome_event(now, name, answer, resubmitted); });
}

void drive_run::complain(const drive_command& command, std::string_view message) {
  complain(line_, command.verb, message);
}

void drive_run::complain(std::uint64_t line, std::string_view verb, std::string_view message) {
  tell([&](drive_time at) { return error_event(at, line, verb, message); });
}

/// The time is read under the lock, so that it never runs backwards from line to line.
void drive_run::tell(const std::function<std::string(drive_time)>& event) {
  {
    std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now() - begin_;
    events_ += event(std::chrono::duration_cast<drive_time>(now));
  }
  waker_.wake();
}

void drive_run::write_events() {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    text.swap(events_);
  }
  std::string_view left = text;
  while (!left.empty() && !output_error_) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      // A script whose events nobody sees is not carried out any further.
      output_error_ = {errno, std::generic_category()};
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace partita::cli
