#include "tests/simulate/subject.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace partita::simulate {
namespace {

constexpr int inside_max = 2;  // how deep callbacks produce from callbacks

constexpr std::size_t letters = 26;
using alphabet = std::array<char, letters>;

constexpr std::array<alphabet, letters> alphabets = [] {
  std::array<alphabet, letters> made{};
  for (std::size_t order = 0; order < letters; ++order)
    for (std::size_t i = 0; i < letters; ++i)
      made[order][i] = static_cast<char>('a' + (order * 7 + i * i) % letters);
  return made;
}();

/// "<producer>/<topic>/<partition>/<number>/...": what the log is read back by.
std::string payload(std::size_t producer, place where, std::uint64_t order, std::size_t padding) {
  std::string text = std::to_string(producer) + '/' + std::to_string(where.first) + '/' +
                     std::to_string(where.second) + '/' + std::to_string(order) + '/';
  // Not one repeated byte: a batch that is cut at the wrong place shows.
  const alphabet& filling = alphabets[order % letters];
  const std::size_t whole = text.size() + padding;
  text.reserve(whole);
  while (text.size() < whole) text.append(filling.data(), std::min(letters, whole - text.size()));
  return text;
}

bool is(const failed& answer, client_errc code) { return answer.code == make_error_code(code); }

/// Failures that are the application's own doing, or a halt's consequence, halt nothing.
bool halts(const failed& answer) {
  if (is(answer, client_errc::halted) || is(answer, client_errc::aborted) ||
      is(answer, client_errc::closed) || is(answer, client_errc::handed_back) ||
      is(answer, client_errc::cancelled) || is(answer, client_errc::earlier_failed))
    return false;
  if (is(answer, client_errc::no_acknowledgement)) return false;
  return answer.attempts > 0;
}

std::string text_of(const outcome& answer) {
  const failed* failure = answer.failure();
  const delivered* success = answer.delivery();
  if (success != nullptr)
    return "delivered at " +
           (success->offset ? std::to_string(success->offset->value) : std::string("no offset"));
  return (failure->fate == fate::unknown ? "unknown: " : "not written: ") +
         failure->code.message() + " (" + failure->cause.message() + ") attempts " +
         std::to_string(failure->attempts);
}

}  // namespace

subject::subject(testing::simulation& world, const plan& history, std::size_t number,
                 coverage& seen, const diary& trace)
    : world_(world),
      plan_(history),
      trace_(trace),
      number_(number),
      config_(history.producers[number].config),
      seen_(seen),
      draws_(history.seed * 31 + number),
      producer_(testing::make_producer(
          world, logging(config_),
          {history.producers[number].lanes, history.seed * 7919 + number + 1})) {}

/// In a trace the producer's own words stand between what happens.
producer_config subject::logging(producer_config config) const {
  if (!trace_) return config;
  config.log_level = 7;
  config.log_context = const_cast<subject*>(this);
  config.log = [](void* self, int, std::string_view line) {
    const auto& here = *static_cast<subject*>(self);
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(here.world_.time().now());
    here.trace_(std::to_string(now.count()) + " ms  producer " + std::to_string(here.number_) +
                " says " + std::string(line));
  };
  return config;
}

// First: it answers what is left into the records.
subject::~subject() { producer_.reset(); }

std::optional<std::pair<int, std::uint64_t>> subject::named_by(std::string_view value) noexcept {
  const char* const end = value.data() + value.size();
  int producer = -1;
  auto at = std::from_chars(value.data(), end, producer).ptr;
  for (int skipped = 0; skipped < 2; ++skipped) {
    int ignored = 0;
    if (at == end || *at != '/') return std::nullopt;
    at = std::from_chars(at + 1, end, ignored).ptr;
  }
  std::uint64_t order = 0;
  if (at == end || *at != '/') return std::nullopt;
  at = std::from_chars(at + 1, end, order).ptr;
  if (at == end || *at != '/') return std::nullopt;
  return std::pair{producer, order};
}

void subject::note(const record_life& one, const std::string& what) const {
  if (!trace_) return;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(world_.time().now());
  trace_(std::to_string(now.count()) + " ms  producer " + std::to_string(number_) + " record " +
         std::to_string(one.order) + " " + std::to_string(one.where.first) + "/" +
         std::to_string(one.where.second) + " " + what);
}

bool subject::idle_at(place where) const noexcept {
  const auto found = halts_.find(where);
  return found == halts_.end() || (found->second.open == 0 && found->second.recovering == 0);
}

bool subject::in_doubt_at(place where) const {
  const auto unknown = [](const outcome& answer) {
    return answer.failure() != nullptr && answer.failure()->fate == fate::unknown;
  };
  for (const record_life& one : records_)
    if (one.where == where && !one.answers.empty() && unknown(one.answers.front())) return true;
  for (const resubmission& again : resubmissions_)
    if (again.where == where)
      for (const resubmitted_record& each : again.records)
        if (unknown(each.answer)) return true;
  return false;
}

bool subject::seen_halted(place where) const {
  const auto found = halts_.find(where);
  return found != halts_.end() && (found->second.seen || !found->second.keys.empty());
}

bool subject::ordered_by_key(place where) const {
  const auto found = halts_.find(where);
  return found != halts_.end() && found->second.by_key;
}

bool subject::seen_any_halt() const {
  return std::any_of(halts_.begin(), halts_.end(), [](const auto& each) {
    return each.second.seen || !each.second.keys.empty();
  });
}

record_life& subject::enter(const wish& what) {
  record_life& one = records_.emplace_back();
  one.order = records_.size() - 1;
  one.where = what.where;
  if (what.key >= 0) one.key = "k" + std::to_string(what.key);
  one.value = payload(number_, what.where, one.order, what.padding);
  one.produced = world_.time().now();
  one.stamped = one.produced - what.age.value_or(std::chrono::milliseconds(0));
  one.bound = one.produced + config_.delivery_timeout + std::chrono::seconds(1);
  halting& here = halts_[what.where];
  one.behind_halt = config_.while_halted == while_halted::refuse &&
                    (here.seen || (one.key && here.keys.contains(*one.key)));
  one.from_callback = depth_ > 0;
  one.begun = here.begun;
  one.must_arrive = what.must_arrive;
  ++here.open;
  if (trace_)
    note(one, "produced" + (one.key ? " key " + *one.key : std::string()) +
                  (one.from_callback ? " inside a callback" : "") +
                  (one.behind_halt ? " behind a halt" : ""));
  return one;
}

record subject::view_of(const record_life& one, const wish& what) const {
  static const std::string topics[] = {topic_name(0), topic_name(1)};
  record view;
  view.topic = topics[one.where.first];
  view.partition = one.where.second;
  if (one.key) view.key = *one.key;
  view.value = one.value;
  if (what.age) {
    seen_.hit(fault_kind::back_dated);
    view.timestamp = world_.time().wall() - *what.age;
  }
  return view;
}

void subject::produce(const wish& what) {
  record_life& one = enter(what);
  const auto answer_to = [this, &one](const outcome& answer) {
    note_answer(one, answer);
    if (has(plan_, fault_group::hooks) && !behaves_) misbehave(one);
  };
  produce_options options;
  if (what.cancellable) {
    one.handle = options.handle = record_handle::make();
    cancellable_.push_back(&one);
  }
  if (what.deadline) {
    seen_.hit(fault_kind::own_deadline);
    options.delivery_timeout = what.deadline;
    one.bound = one.produced + *what.deadline + std::chrono::seconds(1);
  }
  if (options.any())
    producer_->produce(view_of(one, what), options, answer_to);
  else
    producer_->produce(view_of(one, what), answer_to);
}

void subject::cancel_some(std::uint64_t draw) {
  if (cancellable_.empty()) return;
  record_life& one = *cancellable_[draw % cancellable_.size()];
  note(one, "cancelled");
  const bool first = producer_->cancel(one.handle);
  seen_.hit(first ? fault_kind::cancelled : fault_kind::cancelled_again);
}

void subject::produce_together(const std::vector<wish>& what) {
  std::vector<record> views;
  std::vector<record_life*> lives;
  const bool told_together = records_.size() % 2 == 0;
  for (const wish& each : what) {
    record_life& one = enter(each);
    one.bound += config_.max_block;  // it may wait for room, and takes its place when it has it
    one.behind_halt = false;
    one.together = told_together;
    views.push_back(view_of(one, each));
    lives.push_back(&one);
  }
  if (!told_together)
    return producer_->produce_batch(views, [this, lives](std::size_t at, const outcome& answer) {
      note_answer(*lives[at], answer);
      if (has(plan_, fault_group::hooks) && !behaves_) misbehave(*lives[at]);
    });
  // Its answers come together, when the last one is known: their own times are not seen.
  auto slowest = lives.front()->bound;
  for (const record_life* each : lives) slowest = std::max(slowest, each->bound);
  for (record_life* each : lives) each->bound = slowest;
  producer_->produce_batch(views).then([this, lives](const std::vector<outcome>& answers) {
    for (std::size_t i = 0; i < lives.size(); ++i) note_answer(*lives[i], answers.at(i));
  });
}

void subject::note_answer(record_life& one, const outcome& answer) {
  one.answers.push_back(answer);
  one.answered = world_.time().now();
  if (trace_) note(one, text_of(answer));
  if (one.answers.size() > 1) return;  // the judge will say so
  ++answers_;
  halting& here = halts_[one.where];
  --here.open;
  // What was sent has been in its partition; the rest may have been answered on the way there.
  const bool was_sent = answer.is_delivered() || answer.failure()->attempts > 0;
  if (was_sent && !one.from_callback && !one.together)
    here.begun = std::max(here.begun, one.order + 1);
  if (const failed* failure = answer.failure()) {
    failure->fate == fate::unknown ? ++seen_.unknown : ++seen_.not_written;
    if (failure->fate == fate::unknown) ask_what_became_of(one, *failure);
    if (is(*failure, client_errc::buffer_full)) seen_.hit(fault_kind::no_room);
    const bool collected = here.recovering > 0 && may_come_before(one, here.recovered_at);
    if (!collected && !one.together && halts(*failure)) {
      if (config_.on_failure == failure_policy::halt_partition ||
          is(*failure, client_errc::invariant_broken) || is(*failure, client_errc::topic_replaced))
        here.seen = true;
      else if (config_.on_failure == failure_policy::halt_key && one.key)
        here.keys.insert(*one.key);
    }
  } else {
    ++seen_.delivered;
  }
}

void subject::ask_what_became_of(record_life& one, const failed& answer) {
  if (producer_ == nullptr || !draws_.chance(0.5)) return;
  one.settlement_asked = true;
  producer_->settle(answer.ticket).then([this, &one](const settlement& verdict) {
    one.settled = verdict;
    if (verdict.is_delivered())
      ++seen_.settled_delivered;
    else
      verdict.is_never_written() ? ++seen_.settled_never_written : ++seen_.undecidable;
    if (!trace_) return;
    const delivered* found = verdict.delivery();
    note(one, found != nullptr ? "settled: " + text_of(outcome(*found))
              : verdict.is_never_written()
                  ? std::string("settled: never written")
                  : "undecidable: " + verdict.undecided()->reason.message());
  });
}

void subject::misbehave(const record_life& one) {
  if (producer_ == nullptr) return;
  const double kind = draws_.unit();
  if (kind < 0.08 && depth_ < inside_max) {
    seen_.hit(fault_kind::produced_inside);
    ++depth_;
    produce({one.where, static_cast<int>(draws_.below(3)), draws_.below(40)});
    --depth_;
  } else if (kind < 0.11) {
    seen_.hit(fault_kind::controlled_inside);
    // It acts at once: what is queued behind this turn finds the halt gone.
    for (record_life& each : records_)
      if (each.where == one.where && each.answers.empty()) each.behind_halt = false;
    if (seen_halted(one.where))
      recover(one.where, draws_.chance(0.5) ? recovery::discard : recovery::resubmit, false);
    else
      flush(static_cast<int>(draws_.below(3)), one.where);
  } else if (kind < 0.18) {
    seen_.hit(fault_kind::threw);
    throw std::runtime_error("a callback of the history");
  }
}

void subject::pause(place where, bool abort) {
  producer_->pause(topic_name(where.first), where.second,
                   abort ? pause_mode::abort_buffered : pause_mode::hold);
}

void subject::resume(place where) { producer_->resume(topic_name(where.first), where.second); }

/// Among what may be kept for recover(), to be sent again with the timestamps that it has.
bool subject::keeps_too_old(place where) const {
  const auto limit = oldest_record(plan_);
  if (limit == std::chrono::milliseconds::max()) return false;
  return std::any_of(records_.begin(), records_.end(), [&](const record_life& one) {
    const failed* failure = one.answers.empty() ? nullptr : one.answers.front().failure();
    return failure != nullptr && one.where == where && !one.handed_back &&
           !is(*failure, client_errc::halted) && !is(*failure, client_errc::buffer_full) &&
           world_.time().now() - one.stamped > limit;
  });
}

void subject::recover(place where, recovery how, bool duplicates) {
  if (how == recovery::resubmit && keeps_too_old(where)) how = recovery::take;
  halting& here = halts_[where];
  const std::uint64_t before = records_.size();
  here.by_key = here.by_key || config_.on_failure == failure_policy::halt_key;
  here.seen = false;
  here.keys.clear();
  here.recovered_at = before;
  if (trace_)
    trace_("producer " + std::to_string(number_) + " recover " + std::to_string(where.first) + "/" +
           std::to_string(where.second) + " how " + std::to_string(static_cast<int>(how)));
  ++here.recovering;
  ++here.recoveries;
  ++recoveries_open_;
  ++seen_.recoveries;
  recover_options options;
  options.allow_duplicates = duplicates;
  const auto log = world_.cluster().view(topic_name(where.first), where.second);
  const resubmission asked{where, before, log ? log->log_end.value : 0, duplicates, {}};
  producer_->recover(topic_name(where.first), where.second, how, options)
      .then([this, asked](const recovery_report& report) { reported(asked, report); });
}

void subject::reported(resubmission asked, const recovery_report& report) {
  const place where = asked.where;
  --halts_[where].recovering;
  --recoveries_open_;
  seen_.resubmitted += report.resubmitted.size();
  seen_.taken += report.taken.size();
  if (trace_)
    for (const resubmitted_record& each : report.resubmitted)
      trace_("  resubmitted: number " + std::to_string(each.number.value) + " " +
             text_of(each.answer));
  asked.records = report.resubmitted;
  if (!report.resubmitted.empty()) resubmissions_.push_back(std::move(asked));
  std::vector<std::uint64_t> orders;
  for (const taken_record& each : report.taken) {
    const auto named = named_by(each.record.value.value_or(""));
    if (!named || named->first != number() || named->second >= records_.size()) {
      complaints_.push_back("recover(take) handed back a record that was never produced");
      continue;
    }
    record_life& one = records_[named->second];
    one.handed_back = true;
    if (one.where != where || each.record.key != one.key || each.record.value != one.value)
      complaints_.push_back("recover(take) handed back record " + std::to_string(one.order) +
                            " changed");
    if (!one.from_callback) orders.push_back(named->second);
  }
  check_hand_back(where, orders, "recover(take)");
}

void subject::check_hand_back(place where, const std::vector<std::uint64_t>& orders,
                              const char* by) {
  for (std::size_t i = 1; i < orders.size(); ++i)
    if (orders[i - 1] >= orders[i])
      complaints_.push_back(std::string(by) + " handed back record " + std::to_string(orders[i]) +
                            " behind " + std::to_string(orders[i - 1]) + " in partition " +
                            std::to_string(where.second));
}

/// In force for the application when it is told so, unless it has recovered since.
void subject::halt(place where, int key) {
  ++seen_.halts_asked;
  const std::string topic = topic_name(where.first);
  const std::string name = "k" + std::to_string(key);
  halting& here = halts_[where];
  here.by_key = here.by_key || key >= 0;
  if (trace_)
    trace_("producer " + std::to_string(number_) + " halt " + std::to_string(where.first) + "/" +
           std::to_string(where.second) + (key < 0 ? "" : " " + name));
  auto asked =
      key < 0 ? producer_->halt(topic, where.second) : producer_->halt(topic, where.second, name);
  std::move(asked).then([&here, key, name, before = here.recoveries](bool done) {
    if (!done || here.recoveries != before) return;
    if (key < 0)
      here.seen = true;
    else
      here.keys.insert(name);
  });
}

void subject::flush(int scope, place where) {
  ++seen_.flushes;
  const std::string topic = topic_name(where.first);
  auto asked = scope == 0   ? producer_->flush()
               : scope == 1 ? producer_->flush(topic)
                            : producer_->flush(topic, where.second);
  std::move(asked).then([](const tally&) {});
}

void subject::ask_status() {
  status_.reset();
  producer_->status().then([this](const producer_status& now) { status_ = now; });
}

void subject::close(std::chrono::milliseconds deadline) {
  closing_life& one = closings_.emplace_back();
  one.bound = world_.time().now() + deadline + std::chrono::seconds(1);
  producer_->close(deadline).then([this, &one](const close_report& report) {
    one.done = world_.time().now();
    std::map<place, std::vector<std::uint64_t>> orders;
    for (const owned_record& each : report.unsent) {
      const auto named = named_by(each.value.value_or(""));
      if (!named || named->first != number() || named->second >= records_.size()) {
        complaints_.push_back("close() handed back a record that was never produced");
        continue;
      }
      record_life& life = records_[named->second];
      life.handed_back = true;
      if (!life.from_callback) orders[life.where].push_back(named->second);
    }
    for (const auto& [where, list] : orders) check_hand_back(where, list, "close()");
  });
}

void subject::destroy() { producer_.reset(); }

}  // namespace partita::simulate
