// Histories of a partition core against a small broker that appends and deduplicates as
// kafka-semantics 1.2 and 1.4 say: scripted ones in which each attempt in turn goes wrong, and
// random ones.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <random>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::numbers_in;
using testing::partition_bench;
using testing::recovery_run;

struct frame {
  batch* sent;
  wire::batch_stamp tuple;
  std::vector<int> records;
  bool executed = false;
  attempt_answer answer{};
};

class small_broker {
 public:
  struct header {
    wire::batch_stamp tuple;
    offset at;
  };
  std::vector<int> log;  // record numbers; the index is the offset
  std::vector<header> headers;

  /// Where a batch of these numbers lies, before a fence if there is one.
  std::optional<std::int64_t> find(const wire::batch_stamp& tuple,
                                   const std::optional<log_fence>& fence) const {
    for (const header& each : headers)
      if (each.tuple == tuple && (!fence || each.at < fence->at)) return each.at.value;
    return std::nullopt;
  }

  attempt_answer append(const frame& in) {
    auto [at, fresh] = producers_.try_emplace(in.tuple.id.value);
    producer& known = at->second;
    const auto last = sequence_after(in.tuple.base, static_cast<int>(in.records.size()) - 1);
    if (!fresh) {
      if (in.tuple.epoch == known.epoch)
        for (const auto& each : known.batches)
          if (each.first == in.tuple.base && each.last == last)
            return {broker_errc::none, each.at, -1};
      if (in.tuple.epoch < known.epoch) return {broker_errc::invalid_producer_epoch, -1, -1};
      const sequence next =
          in.tuple.epoch > known.epoch ? sequence{0} : sequence_after(known.batches.back().last, 1);
      if (in.tuple.base != next) return {broker_errc::out_of_order_sequence_number, -1, -1};
      if (in.tuple.epoch > known.epoch) known.batches.clear();
    }
    const offset base(static_cast<std::int64_t>(log.size()));
    headers.push_back({in.tuple, base});
    log.insert(log.end(), in.records.begin(), in.records.end());
    known.epoch = in.tuple.epoch;
    known.batches.push_back({in.tuple.base, last, base});
    if (known.batches.size() > 5) known.batches.pop_front();
    return {broker_errc::none, base, -1};
  }
  /// A restart keeps the last batch of a producer only.
  void restart() {
    for (auto& [id, known] : producers_)
      while (known.batches.size() > 1) known.batches.pop_front();
  }

 private:
  struct stored {
    sequence first, last;
    offset at;
  };
  struct producer {
    producer_epoch epoch;
    std::deque<stored> batches;
  };
  std::map<std::int64_t, producer> producers_;
};

/// The bench with a broker, and the checks that hold for every history.
class history : public partition_bench {
 public:
  explicit history(const partition_settings& with) : partition_bench(with) { leader(1); }

  small_broker broker;
  std::deque<frame> wire;        // on the connection in use, oldest first
  std::deque<frame> stragglers;  // of dead connections, not yet executed
  int attempts = 0;

  void produce_some(int count) {
    for (int i = 0; i < count; ++i) {
      admitted_[next_number_] = now;
      if (keys == 1)
        produce(1);
      else
        produce_keyed(key_of(next_number_));
    }
  }
  /// With more than one key, order is kept and halts hold for each key.
  int keys = 1;
  [[nodiscard]] std::string key_of(int number) const {
    return keys == 1 ? "" : "k" + std::to_string(number * 7 / 3 % keys);
  }

  void produce_too_large() {
    admitted_[next_number_] = now;
    produce_failed(client_errc::record_too_large, key_of(next_number_));
  }

  bool send_frame() {
    const bool was_halted = status().state == partition_state::halted;
    batch* sent = send();
    if (sent == nullptr) return false;
    ++attempts;
    wire.push_back({sent, sent->tuple(), numbers_in(*sent)});
    const frame& out = wire.back();
    if (was_halted) {
      EXPECT_LT(out.records.front(), halted_at_) << "it passed a halt";
    }
    for (const int each : out.records) {
      const auto halted = halted_keys_.find(key_of(each));
      if (halted != halted_keys_.end()) {
        EXPECT_LT(each, halted->second) << "it passed the halt of its key";
      }
    }
    handed_over_.insert(out.records.begin(), out.records.end());
    check_tuple(*sent);
    return true;
  }

  frame* next_unexecuted() {
    for (frame& each : wire)
      if (!each.executed) return &each;
    return nullptr;
  }
  void execute(frame& what) {
    what.answer = broker.append(what);
    what.executed = true;
  }
  void refuse(frame& what, broker_errc code) {
    what.answer = {code, -1, -1};
    what.executed = true;
  }
  /// Appended (or found), and an error all the same.
  void execute_and_fail(frame& what, broker_errc code, bool tells_offset) {
    execute(what);
    if (what.answer.code != broker_errc::none) return;
    what.answer.code = code;
    if (!tells_offset) what.answer.base_offset = {};
  }
  void deliver_answer() {
    const frame done = wire.front();
    wire.pop_front();
    answer(done.sent, done.answer.code, done.answer.base_offset.value);
  }
  /// `unsent` of the youngest frames had not left; of the others `late` may be executed later.
  void break_connection(std::size_t unsent, bool late) {
    reconnect();
    while (!wire.empty()) {
      const frame lost = wire.front();
      wire.pop_front();
      const bool left = lost.executed || wire.size() >= unsent;
      if (left && !lost.executed && late && !fences_nothing) stragglers.push_back(lost);
      lose(lost.sent, left);
    }
  }
  recovery_run& recover_noted(recovery how) {
    note("recover " + std::to_string(static_cast<int>(how)));
    if (status().state == partition_state::halted || status().halted_keys > 0)
      recovered_below_ = next_number_;
    halted_keys_.clear();
    return recover(how);
  }
  void grant_if_asked() {
    if (ids_asked > 0) grant(next_id_++, first_epoch);
  }
  /// What is looked for is found, or not, as the log says.
  void answer_look() {
    std::vector<std::optional<std::int64_t>> found;
    for (const log_target& each : look->targets) {
      EXPECT_TRUE(!look->from.known() || !broker.find(each.stamp, look->fence) ||
                  *broker.find(each.stamp, look->fence) >= look->from.value)
          << "it lies before the place from which the log is read";
      found.push_back(broker.find(each.stamp, look->fence));
    }
    log_holds(found);
  }
  void settle_noted(int number) { settled_[number] = &settle(tickets.at(number)); }
  /// Everything unknown is asked for; what is decided then must agree with the log.
  void settle_everything() {
    for (const auto& [number, ticket] : tickets) settle_noted(number);
    for (int round = 0; round < 20; ++round) {
      if (look) answer_look();
      advance(1s);
    }
  }

  std::int16_t first_epoch = 0;
  /// A new producer id keeps no late frame of the old one from being executed
  /// (kafka-semantics 3.2): what is unknown may then land behind newer records. Such histories have
  /// no late frames.
  bool fences_nothing = settings.new_producer_id_on_bump;

  /// Everything works from here on, until nothing is left to do.
  void run_calmly() {
    resume();
    for (int round = 0; round < 400 && answered() < static_cast<std::size_t>(next_number_);
         ++round) {
      if (status().state == partition_state::halted || status().halted_keys > 0)
        recover_noted(recovery::resubmit);
      grant_if_asked();
      while (send_frame()) {
      }
      while (frame* next = next_unexecuted()) execute(*next);
      while (!wire.empty()) deliver_answer();
      if (look) answer_look();
      advance(50ms);
    }
    EXPECT_EQ(answered(), static_cast<std::size_t>(next_number_));
  }

  /// Ends it, executes what is still under way, and compares the answers with the log.
  void check() {
    break_connection(0, true);
    end();
    while (!stragglers.empty()) execute_straggler();
    EXPECT_EQ(contradictions, 0);
    std::map<int, std::vector<std::int64_t>> found;
    std::map<std::string, int> before;
    for (std::size_t at = 0; at < broker.log.size(); ++at) {
      found[broker.log[at]].push_back(static_cast<std::int64_t>(at));
      int& last = before.try_emplace(key_of(broker.log[at]), -1).first->second;
      EXPECT_LT(last, broker.log[at]) << "out of order, or twice, at offset " << at;
      last = broker.log[at];
    }
    for (const auto& [number, what] : last_told_) {
      const auto& places = found[number];
      if (what.starts_with("delivered")) {
        ASSERT_EQ(places.size(), 1U) << number << " " << what;
        EXPECT_EQ(what, "delivered@" + std::to_string(places.front())) << number;
      } else if (what.starts_with("not_written")) {
        EXPECT_TRUE(places.empty()) << number << " " << what;
      } else {
        EXPECT_LE(places.size(), 1U) << number << " " << what;
        EXPECT_TRUE(handed_over_.contains(number)) << number << " was never sent, yet " << what;
      }
    }
    for (const auto& run : recoveries_) {
      EXPECT_TRUE(run->done);
      for (const std::string& each : run->resubmitted) EXPECT_NE(each, "");
    }
    for (const auto& run : flushes_) EXPECT_TRUE(run->done);
    for (const auto& [number, run] : settled_) {
      const auto& places = found[number];
      EXPECT_NE(run->verdict, "") << number << ": nobody was told";
      if (run->verdict.starts_with("delivered")) {
        ++verdicts_delivered;
        EXPECT_TRUE(std::any_of(places.begin(), places.end(),
                                [&run = run](std::int64_t at) {
                                  return run->verdict == "delivered@" + std::to_string(at);
                                }))
            << number << " " << run->verdict;
      } else if (run->verdict == "never_written") {
        ++verdicts_never_written;
        // A record that was resubmitted may be there, by its second submission.
        if (!told_again_.contains(number)) {
          EXPECT_TRUE(places.empty()) << number << " " << run->verdict;
        }
      }
    }
  }
  int verdicts_delivered = 0;
  int verdicts_never_written = 0;
  void execute_straggler() {
    broker.append(stragglers.front());
    stragglers.pop_front();
  }

 protected:
  void on_told(int number, const std::string& what) override {
    if (const auto before = last_told_.find(number); before != last_told_.end()) {
      // What was unknown may be settled either way by an answer that comes after its deadline.
      EXPECT_FALSE(before->second.starts_with("delivered"))
          << "resubmitted: " << before->second << ", then " << what;
      told_again_.insert(number);
    } else if (what.find("closed") == std::string::npos) {
      EXPECT_LE(now, admitted_[number] + settings.delivery_timeout) << "told after its deadline";
    }
    last_told_[number] = what;
    // A failure that a waiting recovery collects halts nothing more.
    const bool recovers = std::any_of(recoveries_.begin(), recoveries_.end(),
                                      [](const auto& each) { return !each->done; });
    const bool collected = recovers && number < recovered_below_;
    const auto halted = halted_keys_.find(key_of(number));
    if (halted != halted_keys_.end() && !what.starts_with("delivered") && !collected)
      halted->second = std::min(halted->second, number);
    if (what.starts_with("delivered") || status().state != partition_state::halted) return;
    for (const char* by_command : {"halted", "aborted", "handed_back", "closed", "earlier_failed"})
      if (what.find(by_command) != std::string::npos) return;
    if (collected) return;
    halted_at_ = std::min(halted_at_, number);
  }
  void halted(std::error_code cause, const std::vector<std::string>& halted) override {
    if (halted.empty()) halted_at_ = std::numeric_limits<int>::max();
    // The records that failed are told right after, and say from where on.
    for (const std::string& each : halted) halted_keys_[each] = std::numeric_limits<int>::max();
    partition_bench::halted(cause, halted);
  }

 private:
  void check_tuple(const batch& sent) {
    const wire::batch_stamp tuple = sent.tuple();
    const auto count = static_cast<std::int32_t>(sent.count());
    auto& used = tuples_[{tuple.id.value, tuple.epoch.value}];
    for (const auto& [base, other] : used) {
      if (base == tuple.base.value && other == std::pair(count, sent.bytes().crc())) return;
      EXPECT_TRUE(base + other.first <= tuple.base.value || tuple.base.value + count <= base)
          << "the tuple of other bytes (L1)";
    }
    used[tuple.base.value] = {count, sent.bytes().crc()};
  }

  std::map<int, testing::settle_run*> settled_;
  std::map<int, instant> admitted_;
  std::map<int, std::string> last_told_;
  std::set<int> told_again_;
  std::set<int> handed_over_;
  std::map<std::pair<std::int64_t, std::int16_t>,
           std::map<std::int32_t, std::pair<std::int32_t, std::uint32_t>>>
      tuples_;
  int halted_at_ = std::numeric_limits<int>::max();
  std::map<std::string, int> halted_keys_;  // from which number on
  int recovered_below_ = 0;
  std::int64_t next_id_ = 1000;
};

partition_settings settings_for(failure_policy policy) {
  partition_settings with;
  with.batch_records_max = 2;
  with.delivery_timeout = 5s;
  with.retry_backoff = 20ms;
  with.retry_backoff_max = 200ms;
  with.on_failure = policy;
  return with;
}

// Each attempt made to fail

enum class fault { lost_before, lost_after, lost_then_late, not_sent, code };
struct planned {
  const char* name;
  fault how;
  int code = 0;
  bool appended = false;
};

class EachAttempt : public ::testing::TestWithParam<planned> {};

/// Fourteen records in batches of two, five in flight; attempt `which` goes wrong.
void run_script(history& h, int which, const planned& plan) {
  h.produce_some(14);
  for (int round = 0; round < 100 && h.answered() < 14; ++round) {
    if (h.status().state == partition_state::halted) h.recover_noted(recovery::resubmit);
    h.grant_if_asked();
    const int first = h.attempts;
    while (h.send_frame()) {
    }
    bool broken = false;
    for (std::size_t i = 0; i < h.wire.size() && !broken; ++i) {
      frame& next = h.wire[i];
      if (first + static_cast<int>(i) != which) {
        h.execute(next);
      } else if (plan.how == fault::code && plan.appended) {
        h.execute_and_fail(next, static_cast<broker_errc>(plan.code), true);
      } else if (plan.how == fault::code) {
        h.refuse(next, static_cast<broker_errc>(plan.code));
      } else {
        if (plan.how == fault::lost_after) h.execute(next);
        broken = true;
        const std::size_t behind = h.wire.size() - i;
        for (std::size_t answered = 0; answered < i; ++answered) h.deliver_answer();
        h.break_connection(plan.how == fault::not_sent ? behind : 0,
                           plan.how == fault::lost_then_late);
      }
    }
    while (!h.wire.empty()) h.deliver_answer();
    if (h.look) h.answer_look();
    h.advance(50ms);
    if (round == 20)
      while (!h.stragglers.empty()) h.execute_straggler();
  }
}

TEST_P(EachAttempt, EndsAsTheLogSays) {
  for (const auto policy : {failure_policy::halt_partition, failure_policy::skip}) {
    int attempts_of_the_script = 7;
    for (int which = 0; which < attempts_of_the_script; ++which) {
      SCOPED_TRACE("attempt " + std::to_string(which));
      history h(settings_for(policy));
      run_script(h, which, GetParam());
      attempts_of_the_script = std::min(h.attempts, 30);

      EXPECT_EQ(h.answered(), 14U);
      if (GetParam().code != 10) {
        EXPECT_EQ(h.broker.log.size(), 14U) << "one fault of this kind loses nothing";
      }
      h.check();
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PartitionCore, EachAttempt,
                         ::testing::Values(planned{"LostBefore", fault::lost_before},
                                           planned{"LostAfter", fault::lost_after},
                                           planned{"LostAndExecutedLate", fault::lost_then_late},
                                           planned{"NotSent", fault::not_sent},
                                           planned{"Refused6", fault::code, 6},
                                           planned{"Refused19", fault::code, 19},
                                           planned{"Refused45", fault::code, 45},
                                           planned{"Refused10", fault::code, 10},
                                           planned{"Written7", fault::code, 7, true},
                                           planned{"Written6", fault::code, 6, true},
                                           planned{"Written20", fault::code, 20, true}),
                         [](const auto& each) { return each.param.name; });

// Random histories

class random_history : public history {
 public:
  random_history(const partition_settings& with, std::uint64_t seed)
      : history(with), random_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  bool one_in(std::size_t bound) { return below(bound) == 0; }
  template <std::size_t N>
  broker_errc one_of(const int (&codes)[N]) {
    return static_cast<broker_errc>(codes[below(N)]);
  }

  void step() {
    grant_if_asked();
    next_draw = static_cast<double>(below(1000)) / 1000;
    const std::size_t what = below(100);
    if (what < 25)
      produce_some(1 + static_cast<int>(below(4)));
    else if (what < 45)
      send_frame();
    else if (what < 60)
      execute_something();
    else if (what < 76)
      answer_something();
    else if (what < 86)
      advance(std::chrono::milliseconds(below(one_in(6) ? 1500 : 40)));
    else if (what < 89)
      break_connection(below(3), one_in(2));
    else if (what < 91)
      leader(static_cast<int>(1 + below(3)), static_cast<int>(below(3)));
    else if (what < 94)
      recover_noted(static_cast<recovery>(below(3)));
    else if (what < 95)
      flush();
    else if (what < 97)
      command_something();
    else if (what < 99)
      look_or_settle();
    else if (!stragglers.empty())
      execute_straggler();
  }

 private:
  void execute_something() {
    frame* next = next_unexecuted();
    if (next == nullptr) return;
    const std::size_t how = below(20);
    if (how < 2) return refuse(*next, one_of({19, 6, 2, 3, -1, 56, 7}));
    if (how < 3 && one_in(3)) return refuse(*next, one_of({10, 29, 87, 18, 45}));
    if (how < 5) return execute_and_fail(*next, one_of({7, 20, 6, 3, 56}), true);
    if (how < 6) return execute_and_fail(*next, one_of({-1, 6, 56, 44, 1234}), false);
    execute(*next);
  }
  void answer_something() {
    if (!wire.empty() && wire.front().executed) deliver_answer();
  }
  void look_or_settle() {
    if (look && one_in(3)) return log_is_silent(search_end::interrupted, client_errc::answer_lost);
    if (look && one_in(10))
      return log_is_silent(search_end::undecidable, client_errc::log_not_readable);
    if (look) return answer_look();
    if (tickets.empty()) return;
    settle_noted(std::next(tickets.begin(), static_cast<int>(below(tickets.size())))->first);
  }
  void command_something() {
    switch (below(6)) {
      case 0:
        return pause();
      case 1:
        return pause(pause_mode::abort_buffered);
      case 2:
        return broker.restart();
      case 3:
        return produce_too_large();
      default:
        return resume();
    }
  }
  std::mt19937_64 random_;
};

partition_settings random_settings(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  auto with = settings_for(static_cast<failure_policy>(below(4)));
  if (below(3) == 0) with.while_halted = while_halted::hold;
  with.batch_records_max = 1 + below(3);
  with.max_in_flight = static_cast<int>(1 + below(5));
  with.delivery_timeout = std::chrono::milliseconds(200 + below(3000));
  with.linger = std::chrono::milliseconds(below(2) * below(20));
  with.new_producer_id_on_bump = below(8) == 0;
  if (below(4) == 0) with.attempts_max = static_cast<int>(1 + below(4));
  return with;
}

struct verdict_sum {
  int delivered = 0;
  int never_written = 0;
};

void run_random_history(std::uint64_t seed, verdict_sum& sum) {
  std::mt19937_64 random(seed);
  const partition_settings with = random_settings(random);
  random_history h(with, random());
  if (with.on_failure == failure_policy::halt_key) h.keys = 1 + static_cast<int>(random() % 4);
  if (random() % 8 == 0) {
    h.first_epoch = 32766;
    h.fences_nothing = true;
  }
  const std::size_t steps = 40 + random() % 200;
  for (std::size_t i = 0; i < steps; ++i) h.step();
  if (random() % 2 == 0) {
    h.run_calmly();
    if (random() % 2 == 0) h.settle_everything();
  }
  h.check();
  sum.delivered += h.verdicts_delivered;
  sum.never_written += h.verdicts_never_written;
  if (!::testing::Test::HasFailure()) return;
  std::cerr << "seed " << seed << ":\n";
  for (const std::string& each : h.events) std::cerr << "  " << each << "\n";
}

TEST(PartitionCore, RandomHistoriesEndAsTheLogSays) {
  verdict_sum sum;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    run_random_history(seed, sum);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
  // The histories must reach settlement, or they prove nothing about it.
  EXPECT_GT(sum.delivered, 20);
  EXPECT_GT(sum.never_written, 20);
}

}  // namespace
}  // namespace partita::actors
