// Failure control over the whole producer: policies, held records, the handler, recovery by key.
// Rows by their ids; the stage is that of the catalogue.
#include "tests/sim/history.hpp"

#include <partita/partitioner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;
using indexes = std::vector<std::size_t>;

history_options stage(failure_policy policy, while_halted then = while_halted::refuse) {
  history_options options;
  options.partitions = 3;
  options.config = hurried_config();
  options.config.linger = 0ms;
  options.config.batch_records_max = 1;
  options.config.delivery_timeout = 10s;
  options.config.on_failure = policy;
  options.config.while_halted = then;
  return options;
}

/// A coroutine that nobody waits for.
struct eager_task {
  struct promise_type {
    eager_task get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

class control_story {
 public:
  explicit control_story(const history_options& options) : story(options) {
    for (int partition = 0; partition < 3; ++partition) story.produce(partition, "warm");
    EXPECT_TRUE(story.run_until_answered());
    warm = story.produced();
  }

  std::size_t produce(const std::string& key = "k1", int partition = 0) {
    story.produce(partition, key);
    return story.produced() - 1;
  }
  /// The next `times` attempts of p0 are refused for good, nothing stored.
  void refuse(broker_errc code = broker_errc::invalid_record, int times = 1) {
    fault planned;
    planned.topic = history::topic();
    planned.partition = 0;
    planned.execution = execution::skip;
    planned.reply = reply::error;
    planned.code = code;
    planned.times = times;
    story.cluster().inject(planned);
  }
  bool run_until_answered(std::size_t record) {
    return story.world().time().run_until([&] { return !story.record(record).answers.empty(); },
                                          1min);
  }
  [[nodiscard]] const failed& failure(std::size_t record) {
    const failed* found = story.answer(record).failure();
    EXPECT_NE(found, nullptr) << "record " << record << " was delivered";
    static const failed none{fate::unknown, {}, {}};
    return found == nullptr ? none : *found;
  }
  recovery_report recover(recovery how) {
    return wait_for(story.world(), story.producer().recover(history::topic(), 0, how));
  }
  recovery_report recover(const std::string& key, recovery how) {
    return wait_for(story.world(), story.producer().recover(history::topic(), 0, key, how));
  }
  [[nodiscard]] partition_status status() {
    return wait_for(story.world(), story.producer().status()).partitions.at(0);
  }
  /// The values in p0's log after the warm start, as indexes of records.
  [[nodiscard]] indexes log() {
    indexes found;
    for (const log_record& each : story.cluster().log(history::topic(), 0))
      for (std::size_t i = warm; i < story.produced(); ++i)
        if (story.record(i).record.value == each.value) found.push_back(i);
    return found;
  }
  [[nodiscard]] indexes indexes_of(const std::vector<owned_record>& records) {
    indexes found;
    for (const owned_record& each : records)
      for (std::size_t i = warm; i < story.produced(); ++i)
        if (story.record(i).record.value == each.value) found.push_back(i);
    return found;
  }
  [[nodiscard]] indexes indexes_of(const std::vector<taken_record>& taken) {
    std::vector<owned_record> records;
    for (const taken_record& each : taken) records.push_back(each.record);
    return indexes_of(records);
  }

  history story;
  std::size_t warm = 0;
};

TEST(FailureControl, CORE_20_nothing_leaves_between_the_failure_and_recover) {
  for (const auto policy : {failure_policy::halt_partition, failure_policy::halt_key}) {
    for (const auto then : {while_halted::refuse, while_halted::hold}) {
      control_story s(stage(policy, then));
      s.refuse();
      const std::size_t a = s.produce();
      ASSERT_TRUE(s.run_until_answered(a));
      const std::size_t b = s.produce();
      s.story.run_for(3s);
      EXPECT_TRUE(s.log().empty());
      EXPECT_EQ(s.failure(a).code, broker_errc::invalid_record);

      const recovery_report report = s.recover(recovery::resubmit);

      ASSERT_TRUE(s.run_until_answered(b));
      ASSERT_EQ(report.resubmitted.size(), 1U);
      EXPECT_TRUE(report.resubmitted[0].answer.is_delivered());
      EXPECT_NE(s.failure(a).number, record_number{});
      EXPECT_EQ(report.resubmitted[0].number, s.failure(a).number);
      if (then == while_halted::refuse) {
        EXPECT_EQ(s.failure(b).code, client_errc::halted);
        EXPECT_EQ(s.log(), (indexes{a}));
      } else {
        EXPECT_EQ(s.log(), (indexes{a, b}));
      }
    }
  }
}

// The operation of a batch has one answer for all. Until the last record's is known another part of
// the application can end the halt, and send again what it has not seen fail.
TEST(FailureControl, CORE_20_a_batch_tells_a_failure_before_the_rest_is_known) {
  control_story s(stage(failure_policy::halt_partition));
  s.refuse();
  fault held;  // the other's answer is not known yet
  held.topic = history::topic();
  held.partition = 1;
  held.held = true;
  s.story.cluster().inject(held);
  record first;
  first.topic = history::topic();
  first.partition = 0;
  first.key = "k1";
  first.value = "A";
  record other = first;
  other.partition = 1;
  other.value = "B";
  record behind = first;
  behind.value = "C";
  std::string told;
  std::optional<outcome> nested;
  std::optional<recovery_report> report;
  s.story.producer().produce_batch(
      std::vector{first, other, behind}, [&](std::size_t index, const outcome& answer) {
        told += std::to_string(index) + (answer.is_delivered() ? "+ " : "- ");
        if (index != 0) return;
        s.story.producer().produce(first, [&](const outcome& again) { nested = again; });
        s.story.producer()
            .recover(history::topic(), 0, recovery::discard)
            .then([&](const recovery_report& what) { report = what; });
        throw 1;  // counted; the other records are told all the same
      });
  ASSERT_TRUE(s.story.world().time().run_until([&] { return report.has_value(); }, 1min));
  s.story.run_for(1s);
  EXPECT_EQ(told, "0- 2+ ");
  EXPECT_EQ(report->discarded, 1U);
  ASSERT_TRUE(nested.has_value());
  EXPECT_EQ(nested->failure()->code, client_errc::halted) << "the halt was in force already";
  s.story.cluster().release_held();
  ASSERT_TRUE(s.story.world().time().run_until([&] { return told.size() == 9; }, 1min));
  EXPECT_EQ(told, "0- 2+ 1+ ");
  EXPECT_EQ(wait_for(s.story.world(), s.story.producer().status()).callback_exceptions, 1U);
}

TEST(FailureControl, ABatchWithACallbackIsRefusedInsideTheCallAndFreesItsCallback) {
  control_story s(stage(failure_policy::halt_key));
  record wrong;
  wrong.topic = "not a topic";
  const auto alive = std::make_shared<int>(0);
  s.story.producer().produce_batch({&wrong, 1}, [alive](std::size_t, const outcome& answer) {
    *alive += answer.failure()->code == client_errc::invalid_topic ? 1 : 100;
  });
  EXPECT_EQ(*alive, 1);
  EXPECT_EQ(alive.use_count(), 1);
  s.story.producer().produce_batch({}, [alive](std::size_t, const outcome&) { *alive = 9; });
  EXPECT_EQ(*alive, 1);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(FailureControl, CORE_24_what_was_handed_back_comes_first_and_what_waited_follows) {
  for (const auto how : {recovery::resubmit, recovery::take, recovery::discard}) {
    control_story s(stage(failure_policy::halt_partition, while_halted::hold));
    s.refuse(broker_errc::topic_authorization_failed);
    const std::size_t a = s.produce();
    ASSERT_TRUE(s.run_until_answered(a));
    const std::size_t b = s.produce();
    const std::size_t c = s.produce();
    const std::size_t d = s.produce("k2");
    s.story.run_for(1s);
    EXPECT_TRUE(s.log().empty());
    EXPECT_EQ(s.status().held_records, 3U);

    const recovery_report report = s.recover(how);

    ASSERT_TRUE(s.story.run_until_answered());
    switch (how) {
      case recovery::resubmit:
        EXPECT_EQ(s.log(), (indexes{a, b, c, d}));
        break;
      case recovery::take:
        EXPECT_EQ(s.indexes_of(report.taken), (indexes{a, b, c, d}));
        EXPECT_EQ(s.failure(c).code, client_errc::handed_back);
        EXPECT_TRUE(s.log().empty());
        break;
      case recovery::discard:
        EXPECT_EQ(s.log(), (indexes{b, c, d}));
        break;
    }
    const recovery_report twice = s.recover(how);
    EXPECT_FALSE(twice.was_halted) << "a second time is a no-op";
  }
}

TEST(FailureControl, CORE_26_halt_by_key) {
  control_story s(stage(failure_policy::halt_key, while_halted::hold));
  s.refuse();
  const std::size_t a = s.produce("k1");
  const std::size_t b = s.produce("k2");
  const std::size_t c = s.produce("k1");
  ASSERT_TRUE(s.run_until_answered(a));
  const std::size_t d = s.produce("k1");
  const std::size_t e = s.produce("k2");
  s.story.run_for(3s);
  EXPECT_EQ(s.log(), (indexes{b, e}));
  EXPECT_EQ(s.status().some_halted_keys.at(0).key, "k1");

  const recovery_report report = s.recover("k1", recovery::resubmit);

  ASSERT_TRUE(s.story.run_until_answered());
  EXPECT_EQ(s.log(), (indexes{b, e, a, c, d}));
  ASSERT_EQ(report.resubmitted.size(), 1U);
  EXPECT_TRUE(report.resubmitted[0].answer.is_delivered());
  EXPECT_FALSE(s.recover("k1", recovery::take).was_halted);
}

TEST(FailureControl, ORD_12_fail_following) {
  control_story s(stage(failure_policy::fail_following));
  s.refuse();
  const std::size_t a = s.produce();
  const std::size_t b = s.produce();
  const std::size_t c = s.produce();
  ASSERT_TRUE(s.run_until_answered(a));
  const std::size_t d = s.produce();
  ASSERT_TRUE(s.story.run_until_answered());
  EXPECT_EQ(s.failure(a).code, broker_errc::invalid_record);
  for (const std::size_t each : {b, c}) {
    EXPECT_EQ(s.failure(each).code, client_errc::earlier_failed);
    EXPECT_EQ(s.failure(each).fate, fate::not_written);
  }
  EXPECT_EQ(s.log(), (indexes{d})) << "back to normal without a call";
}

TEST(FailureControl, ORD_13_the_handler_decides_before_anything_later_moves) {
  enum class what { retry, skip, halt_key, throws };
  for (const what verdict : {what::retry, what::skip, what::halt_key, what::throws}) {
    SCOPED_TRACE(static_cast<int>(verdict));
    history_options options = stage(failure_policy::halt_partition);
    int calls = 0;
    std::size_t behind = 0;
    std::vector<std::string> keys;
    options.config.failure_handler = [&](const failure_view& view) {
      ++calls;
      behind = view.behind_count();
      EXPECT_EQ(view.failure().fate, fate::not_written);
      EXPECT_EQ(view.failure().topic, history::topic());
      view.for_each([&](const record& each) { keys.emplace_back(*each.key); });
      view.for_each_behind([&](const record& each) { keys.emplace_back(*each.key); });
      if (verdict == what::throws) throw 1;
      return verdict == what::retry  ? failure_verdict::retry
             : verdict == what::skip ? failure_verdict::skip
                                     : failure_verdict::halt_key;
    };
    control_story s(options);
    s.refuse();
    const std::size_t a = s.produce("k1");
    const std::size_t b = s.produce("k2");
    const std::size_t c = s.produce("k1");
    s.story.run_for(3s);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(behind, 2U);
    EXPECT_EQ(keys, (std::vector<std::string>{"k1", "k2", "k1"}));
    const producer_status status = wait_for(s.story.world(), s.story.producer().status());
    switch (verdict) {
      case what::retry:
        EXPECT_EQ(s.log(), (indexes{a, b, c}));
        break;
      case what::skip:
        EXPECT_EQ(s.log(), (indexes{b, c}));
        break;
      case what::halt_key:
        EXPECT_EQ(s.log(), (indexes{b}));
        break;
      case what::throws:
        EXPECT_EQ(status.callback_exceptions, 1U);
        EXPECT_EQ(status.partitions.at(0).state, partition_state::halted);
        EXPECT_TRUE(s.log().empty());
        break;
    }
    s.recover(recovery::discard);
    ASSERT_TRUE(s.story.run_until_answered());
  }
}

TEST(FailureControl, ATopicCanHaveAPolicyOfItsOwn) {
  history_options options = stage(failure_policy::halt_partition);
  options.config.topics[history::topic()].on_failure = failure_policy::skip;
  control_story s(options);
  s.refuse();
  const std::size_t a = s.produce();
  const std::size_t b = s.produce();
  ASSERT_TRUE(s.story.run_until_answered());
  EXPECT_EQ(s.failure(a).code, broker_errc::invalid_record);
  EXPECT_EQ(s.log(), (indexes{b}));
}

TEST(FailureControl, CORE_25_b_recover_inside_the_callback_lets_its_next_record_pass) {
  control_story s(stage(failure_policy::halt_key));
  s.refuse(broker_errc::message_too_large);
  std::optional<outcome> again;
  std::optional<recovery_report> report;
  record what;
  what.topic = history::topic();
  what.partition = 0;
  what.key = "k1";
  what.value = "A";
  s.story.producer().produce(what, [&](const outcome& answer) {
    EXPECT_FALSE(answer.is_delivered());
    s.story.producer()
        .recover(history::topic(), 0, "k1", recovery::discard)
        .then([&](const recovery_report& told) { report = told; });
    record second = what;
    second.value = "A2";
    s.story.producer().produce(second, [&](const outcome& told) { again = told; });
  });
  ASSERT_TRUE(s.story.world().time().run_until([&] { return again.has_value(); }, 1min));
  EXPECT_TRUE(again->is_delivered());
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->discarded, 1U);
  EXPECT_EQ(s.story.cluster().log(history::topic(), 0).back().value, "A2");
}

TEST(FailureControl, HaltInsideACallbackStopsWhatIsBufferedBehindIt) {
  control_story s(stage(failure_policy::skip));
  s.story.cluster().pause_broker(1);
  record what;
  what.topic = history::topic();
  what.partition = 0;
  what.key = "k1";
  what.value = "A";
  bool told = false;
  s.story.producer().produce(what, [&](const outcome&) {
    told = true;
    s.story.producer().halt(history::topic(), 0);
  });
  indexes behind;
  for (int i = 0; i < 8; ++i) behind.push_back(s.produce());
  s.story.cluster().resume_broker(1);
  ASSERT_TRUE(s.story.world().time().run_until([&] { return told; }, 1min));
  s.story.run_for(3s);
  const std::size_t passed = s.log().size();
  EXPECT_LT(passed, behind.size()) << "only what was on its way";
  const std::size_t late = s.produce();
  EXPECT_TRUE(s.run_until_answered(late));
  EXPECT_EQ(s.failure(late).cause, client_errc::halt_requested);
  s.recover(recovery::resubmit);
  ASSERT_TRUE(s.story.run_until_answered());
  EXPECT_EQ(s.log(), behind);
}

TEST(FailureControl, CORE_27_delivered_records_of_a_key_are_a_prefix_until_recover) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    seeded_draws draws(seed);
    history_options options = stage(failure_policy::halt_key,
                                    draws.chance(0.5) ? while_halted::hold : while_halted::refuse);
    options.seed = seed;
    options.config.batch_records_max = 1 + static_cast<int>(draws.below(4));
    options.config.linger = std::chrono::milliseconds(draws.below(4));
    control_story s(options);
    const std::size_t failing = draws.below(20);
    for (std::size_t i = 0; i < 20; ++i) {
      if (i == failing)
        s.refuse(draws.chance(0.5) ? broker_errc::invalid_record
                                   : broker_errc::topic_authorization_failed);
      s.produce(draws.chance(0.7) ? "k1" : "k2");
      if (draws.chance(0.4)) s.story.run_for(std::chrono::milliseconds(draws.below(8)));
    }
    s.story.run_for(4s);
    for (const char* key : {"k1", "k2"}) {
      bool failed = false;
      for (std::size_t i = s.warm; i < s.story.produced(); ++i) {
        const produced_record& each = s.story.record(i);
        if (each.record.key != key) continue;
        const bool delivered = !each.answers.empty() && each.answers[0].is_delivered();
        EXPECT_FALSE(failed && delivered) << key << " passed its halt, record " << i;
        failed = failed || !delivered;
      }
    }
    s.recover(recovery::resubmit);
    ASSERT_TRUE(s.story.run_until_answered());
    indexes k1;
    for (const std::size_t each : s.log())
      if (s.story.record(each).record.key == "k1") k1.push_back(each);
    EXPECT_TRUE(std::is_sorted(k1.begin(), k1.end())) << "order of the key";
  }
}

TEST(FailureControl, ORD_15_a_record_produced_inside_a_completion_goes_first) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    seeded_draws draws(seed);
    history_options options = stage(failure_policy::halt_key);
    options.seed = seed;
    control_story s(options);
    // All of these are queued when A's answer is looked at.
    record what;
    what.topic = history::topic();
    what.partition = 0;
    what.value = "A";
    bool called = false;
    std::vector<std::string> after;
    s.story.producer().produce(what, [&](const outcome&) {
      record second = what;
      second.value = "A2";
      s.story.producer().produce(second, [](const outcome&) {});
      called = true;
    });
    std::size_t b = 0;
    while (!called) {
      const std::string value = "B" + std::to_string(b++);
      record next = what;
      next.value = value;
      const bool before = called;
      s.story.producer().produce(next, [](const outcome&) {});
      if (before) after.push_back(value);
      s.story.run_for(std::chrono::microseconds(draws.below(400)));
      ASSERT_LT(b, 100'000U);
    }
    const std::string last = "C";
    record next = what;
    next.value = last;
    s.story.producer().produce(next, [](const outcome&) {});
    s.story.run_for(2s);
    std::vector<std::string> order;
    for (const log_record& each : s.story.cluster().log(history::topic(), 0))
      order.push_back(*each.value);
    const auto place = [&](const std::string& value) {
      return std::find(order.begin(), order.end(), value) - order.begin();
    };
    ASSERT_NE(place("A2"), static_cast<std::ptrdiff_t>(order.size()));
    EXPECT_LT(place("A2"), place(last));
    for (const std::string& each : after) EXPECT_LT(place("A2"), place(each));
  }
}

TEST(FailureControl, ORD_11_resubmit_retries_an_unknown_head_before_anything_newer) {
  for (const auto what : {execution::append, execution::skip}) {
    control_story s(stage(failure_policy::halt_partition, while_halted::hold));
    fault lost;
    lost.topic = history::topic();
    lost.partition = 0;
    lost.execution = what;
    lost.reply = reply::close_before;
    s.story.cluster().inject(lost);
    s.refuse(broker_errc::not_enough_replicas, 1000);
    const std::size_t a = s.produce();
    ASSERT_TRUE(s.run_until_answered(a));
    const std::size_t b = s.produce();
    EXPECT_EQ(s.failure(a).fate, fate::unknown);
    s.story.cluster().clear_faults();

    const recovery_report report = s.recover(recovery::resubmit);

    ASSERT_TRUE(s.run_until_answered(b));
    ASSERT_EQ(report.resubmitted.size(), 1U);
    EXPECT_TRUE(report.resubmitted[0].answer.is_delivered());
    EXPECT_EQ(report.resubmitted[0].number, s.failure(a).number);
    EXPECT_EQ(s.log(), (indexes{a, b})) << "once, and in order";
  }
}

TEST(FailureControl, AnEventStreamTellsHaltsWithTheirKeysAndEndsWithTheProducer) {
  control_story s(stage(failure_policy::halt_key));
  event_stream events = s.story.producer().events(2);
  s.refuse();
  const std::size_t a = s.produce("k1");
  ASSERT_TRUE(s.run_until_answered(a));
  s.recover("k1", recovery::discard);

  std::vector<partition_event> seen;
  for (int i = 0; i < 2; ++i)
    if (auto next = wait_for(s.story.world(), events.next())) seen.push_back(*next);
  auto last = events.next();
  EXPECT_FALSE(last.done());
  s.story.end_producer();

  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].change, partition_change::halted);
  EXPECT_EQ(seen[0].keys, (std::vector<std::string>{"k1"}));
  EXPECT_EQ(seen[0].code, broker_errc::invalid_record);
  EXPECT_EQ(seen[1].change, partition_change::resumed);
  EXPECT_EQ(events.lost(), 0U);
  ASSERT_TRUE(last.done());
  EXPECT_FALSE(std::move(last).get().has_value());
}

TEST(FailureControl, AnEventStreamThatIsNotReadSaysHowManyEventsItLost) {
  control_story s(stage(failure_policy::skip));
  event_stream events = s.story.producer().events(2);
  for (int i = 0; i < 5; ++i) {
    wait_for(s.story.world(), s.story.producer().halt(history::topic(), 0));
    s.recover(recovery::discard);
  }
  EXPECT_EQ(events.lost(), 8U);
  EXPECT_EQ(wait_for(s.story.world(), events.next())->change, partition_change::halted);
}

TEST(FailureControl, CORE_21_a_refusal_before_the_topic_is_known_takes_its_turn) {
  history_options options = stage(failure_policy::halt_key);
  history story(options);  // cold: nothing is known of the topic yet
  story.produce(0, "k1");
  story.produce(0, "k1", 2'000'000);
  story.produce(0, "k1");
  story.produce(0, "k2");
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(0).is_delivered());
  EXPECT_EQ(story.answer(1).failure()->code, client_errc::record_too_large);
  ASSERT_NE(story.answer(2).failure(), nullptr);
  EXPECT_EQ(story.answer(2).failure()->code, client_errc::halted);
  EXPECT_TRUE(story.answer(3).is_delivered());
}

/// Finds no partition for records with this value.
class choosy final : public partitioner {
 public:
  [[nodiscard]] partition_id choose(const record& what,
                                    const partita::partition_view&) const noexcept override {
    return what.value == "bad" ? partition_id(-1) : partition_id(1);
  }
};

TEST(FailureControl, CORE_21_c_a_key_whose_partition_could_not_be_chosen_is_halted_in_all) {
  for (const bool cold : {false, true}) {
    history_options options = stage(failure_policy::halt_key);
    const choosy chooses;
    options.config.custom_partitioner = &chooses;
    history story(options);
    if (!cold) {
      story.produce(0, "warm");
      ASSERT_TRUE(story.run_until_answered());
    }
    std::vector<outcome> answers;
    const auto produce = [&](std::string_view key, std::string_view value) {
      record what;
      what.topic = history::topic();
      what.key = key;
      what.value = value;
      story.producer().produce(what, [&](const outcome& told) { answers.push_back(told); });
    };
    produce("k1", "bad");
    produce("k1", "good");
    produce("k2", "good");
    ASSERT_TRUE(story.world().time().run_until([&] { return answers.size() == 3; }, 1min));
    std::vector<std::error_code> codes;
    std::size_t delivered = 0;
    for (const outcome& each : answers) {
      if (each.is_delivered())
        ++delivered;
      else
        codes.push_back(each.failure()->code);
    }
    EXPECT_EQ(delivered, 1U);
    EXPECT_NE(
        std::find(codes.begin(), codes.end(), make_error_code(client_errc::partitioner_failed)),
        codes.end());
    EXPECT_NE(std::find(codes.begin(), codes.end(), make_error_code(client_errc::halted)),
              codes.end());
  }
}

TEST(FailureControl, ARecordThatFoundNoRoomInTimeHaltsItsKeyBeforeTheNextGetsSome) {
  history_options options = stage(failure_policy::halt_key);
  options.config.buffer_memory_bytes = 4'000;
  options.config.batch_size_bytes = 1'000;
  options.config.max_block = 1s;
  control_story s(options);
  s.story.cluster().pause_broker(1);
  for (int i = 0; i < 30; ++i) s.produce("filler");
  std::vector<outcome> answers;
  const std::string value(600, 'v');
  const auto waiting = [&](std::string_view key) -> eager_task {
    record what;
    what.topic = history::topic();
    what.partition = 0;
    what.key = key;
    what.value = value;
    answers.push_back(co_await s.story.producer().produce(what));
  };
  waiting("k1");
  s.story.run_for(700ms);
  waiting("k1");
  s.story.run_for(400ms);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].failure()->code, client_errc::admission_timeout);
  EXPECT_EQ(answers[0].failure()->ended_by, limit::admission_timeout);
  s.story.cluster().resume_broker(1);
  s.story.run_for(1s);
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_FALSE(answers[1].is_delivered()) << "it would lie before the one that failed";
}

TEST(FailureControl, CloseHandsBackWhatIsHeldInOrder) {
  control_story s(stage(failure_policy::halt_key, while_halted::hold));
  s.refuse();
  const std::size_t a = s.produce("k1");
  ASSERT_TRUE(s.run_until_answered(a));
  const std::size_t b = s.produce("k1");
  const std::size_t c = s.produce("k2");
  const std::size_t d = s.produce("k1");
  ASSERT_TRUE(s.run_until_answered(c));

  const close_report report = wait_for(s.story.world(), s.story.producer().close(1s));

  EXPECT_EQ(s.indexes_of(report.unsent), (indexes{b, d}));
  EXPECT_EQ(s.failure(d).code, client_errc::closed);
  EXPECT_EQ(s.log(), (indexes{c}));
}

}  // namespace
}  // namespace partita::testing
