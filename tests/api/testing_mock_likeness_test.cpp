// The mock against a producer with brokers: an application must see no difference.
#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/mock_producer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

/// What an answer says, as text that two of them can be compared by.
std::string told(const outcome& answer) {
  const failed* why = answer.failure();
  if (why == nullptr) return "delivered";
  return std::string(why->fate == fate::unknown ? "unknown: " : "not written: ") +
         why->code.message() + " / " + why->cause.message() + " / " + why->detail + " / " +
         why->topic + " " + std::to_string(why->partition.value) + " / limit " +
         std::to_string(static_cast<int>(why->ended_by));
}

/// A record that is wrong in itself, and one of the same key behind it.
template <class Producer>
std::string told_of(Producer& producer, const record& wrong, const produce_options& options) {
  std::string text;
  const auto note = [&text](const outcome& answer) { text += told(answer) + "; "; };
  producer.produce(wrong, options, note);
  static_cast<void>(producer.flush().get());
  producer.produce({.topic = "t", .key = "k", .value = "next", .partition = partition_id{0}}, note);
  static_cast<void>(producer.flush().get());
  const auto recovered = producer.recover("t", 0, recovery::take).get();
  return text + (recovered.was_halted ? "halted, " : "not halted, ") +
         std::to_string(recovered.taken.size()) + " kept";
}

TEST(MockLikeness, RefusesAtTheCallWhatTheProducerRefuses) {
  const std::string large(1'100'000, 'x');
  const std::string bad_name(250, 'a');
  const std::array<header, 1> bad_header{{{"\xff\xfe", "v"}}};
  const record sound{.topic = "t", .key = "k", .value = "v", .partition = partition_id{0}};
  struct entry {
    const char* name;
    record what;
    produce_options options{};
  };
  std::vector<entry> all;
  const auto add = [&](const char* name, auto&& change) {
    entry& made = all.emplace_back(entry{name, sound});
    change(made);
  };
  add("sound", [](entry&) {});
  add("no topic", [](entry& at) { at.what.topic = {}; });
  add("a bad topic", [](entry& at) { at.what.topic = "a b"; });
  add("a topic that is too long", [&](entry& at) { at.what.topic = bad_name; });
  add("a negative partition", [](entry& at) { at.what.partition = partition_id{-1}; });
  add("no such partition", [](entry& at) { at.what.partition = partition_id{7}; });
  add("a negative timestamp",
      [](entry& at) { at.what.timestamp = timestamp{std::chrono::milliseconds{-5}}; });
  add("a bad header", [&](entry& at) { at.what.headers = bad_header; });
  add("too large", [&](entry& at) { at.what.value = large; });
  add("too large, without a key", [&](entry& at) {
    at.what.value = large;
    at.what.key.reset();
  });
  add("a deadline that is over",
      [](entry& at) { at.options.delivery_timeout = std::chrono::milliseconds{0}; });

  cluster_options brokers;
  brokers.brokers = 1;
  brokers.topics["t"].partitions = 1;
  loopback_cluster cluster(brokers);
  ASSERT_FALSE(cluster.listening());
  for (const auto policy : {failure_policy::halt_key, failure_policy::halt_partition,
                            failure_policy::skip, failure_policy::fail_following}) {
    producer_config config;
    config.bootstrap_servers = cluster.bootstrap();
    config.on_failure = policy;
    producer real(config);
    mock_producer mock{{.on_failure = policy}};
    // So that the topic is known.
    static_cast<void>(real.produce_batch(std::vector{sound}).get());
    for (const entry& each : all)
      EXPECT_EQ(told_of(mock, each.what, each.options), told_of(real, each.what, each.options))
          << each.name << ", policy " << static_cast<int>(policy);
  }
}

TEST(MockLikeness, TryProduceTakesAndRefusesWhatIsWrongEvenWithoutRoom) {
  mock_producer mock{{.auto_complete = false, .records_max = 1}};
  mock.produce({.topic = "t", .value = "v"}, [](const outcome&) {});
  std::string text;
  EXPECT_EQ(mock.try_produce({.topic = "a b"}, [&](const outcome& it) { text = told(it); }),
            admission::accepted);
  EXPECT_NE(text.find("topic name"), std::string::npos) << text;
}

TEST(MockLikeness, ABatchIsTakenAsAWholeOrNotAtAll) {
  mock_producer mock{{.auto_complete = false, .records_max = 3}};
  const record one{.topic = "t", .key = "k", .value = "v"};
  mock.produce(one, [](const outcome&) {});
  const auto codes = [](std::vector<outcome> all) {
    std::vector<std::error_code> made;
    for (const outcome& each : all)
      made.push_back(each.failure() == nullptr ? std::error_code() : each.failure()->code);
    return made;
  };
  const record other{.topic = "t", .value = "v"};  // without a key: nothing halts
  const auto refused = codes(mock.produce_batch(std::vector{other, other, other}).get());
  EXPECT_EQ(refused, std::vector<std::error_code>(3, client_errc::admission_timeout));
  EXPECT_EQ(mock.pending(), 1U) << "none of them was taken";
  const auto never = codes(mock.produce_batch(std::vector(4, other)).get());
  EXPECT_EQ(never, std::vector<std::error_code>(4, client_errc::buffer_full));

  // What is wrong in itself needs no room, and ends alone.
  auto taken = mock.produce_batch(std::vector{other, record{.topic = "a b"}, other});
  EXPECT_EQ(mock.pending(), 3U);
  EXPECT_EQ(mock.deliver_all(), 3U);
  const auto all = std::move(taken).get();
  EXPECT_TRUE(all[0].is_delivered());
  EXPECT_EQ(all[1].failure()->code, client_errc::invalid_topic);
  EXPECT_TRUE(all[2].is_delivered());
}

TEST(MockLikeness, WhatIsResubmittedWaitsLikeWhatIsNew) {
  mock_producer mock{{.auto_complete = false}};
  std::string seen;
  const auto note = [&seen](const outcome& answer) { seen += answer ? 'D' : 'N'; };
  mock.produce({.topic = "t", .key = "k", .value = "a"}, note);
  mock.produce({.topic = "t", .key = "k", .value = "b"}, note);
  mock.fail_next(broker_errc::message_too_large);
  auto first = mock.recover("t", 0, recovery::resubmit);
  EXPECT_FALSE(first.done());
  EXPECT_EQ(mock.pending(), 2U);
  EXPECT_TRUE(mock.fail_next(broker_errc::not_enough_replicas)) << "a again, before b";
  ASSERT_TRUE(first.done());
  const auto report = std::move(first).get();
  ASSERT_EQ(report.resubmitted.size(), 1U);
  EXPECT_EQ(report.resubmitted[0].answer.failure()->code, broker_errc::not_enough_replicas);
  EXPECT_TRUE(mock.halted("t", 0)) << "it halted again";
  EXPECT_EQ(seen, "N") << "its callback is called once";

  EXPECT_TRUE(mock.pause("t", 0).get());
  mock.set_auto_complete(true);
  auto second = mock.recover("t", 0, recovery::resubmit);
  EXPECT_FALSE(second.done()) << "the partition is paused";
  EXPECT_TRUE(mock.resume("t", 0).get());
  ASSERT_TRUE(second.done());
  const auto last = std::move(second).get();
  EXPECT_TRUE(last.resubmitted.at(0).answer.is_delivered());
  EXPECT_EQ(last.resubmitted[0].number, report.resubmitted[0].number);
  const auto log = mock.log("t", 0);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].value, "a");
  EXPECT_EQ(log[1].value, "b");
}

TEST(MockLikeness, AMockThatIsClosedEndsARecovery) {
  mock_producer mock{{.auto_complete = false}};
  mock.produce({.topic = "t", .key = "k", .value = "a"}, [](const outcome&) {});
  mock.fail_next(broker_errc::message_too_large);
  auto waits = mock.recover("t", 0, recovery::resubmit);
  EXPECT_EQ(mock.close(std::chrono::milliseconds{0}).get().unsent.size(), 1U);
  ASSERT_TRUE(waits.done());
  EXPECT_EQ(std::move(waits).get().resubmitted.at(0).answer.failure()->code, client_errc::closed);
}

TEST(MockLikeness, TakesCallbacksThatCanOnlyBeMoved) {
  mock_producer mock;
  auto seen = std::make_shared<int>(0);
  auto owned = std::make_unique<std::shared_ptr<int>>(seen);
  const auto callback = [](std::unique_ptr<std::shared_ptr<int>> mine) {
    return [mine = std::move(mine)](const outcome& answer) mutable { **mine += answer ? 1 : 0; };
  };
  mock.produce({.topic = "t"}, callback(std::make_unique<std::shared_ptr<int>>(seen)));
  mock.produce({.topic = "t"}, produce_options{}, callback(std::move(owned)));
  EXPECT_EQ(
      mock.try_produce({.topic = "t"}, callback(std::make_unique<std::shared_ptr<int>>(seen))),
      admission::accepted);
  EXPECT_EQ(*seen, 3);
  EXPECT_EQ(seen.use_count(), 1) << "nothing of a callback that was called is kept";
}

// Waiting

void get_in_a_callback() {
  mock_producer mock;
  mock.produce({.topic = "t"}, [&](const outcome&) { static_cast<void>(mock.flush().get()); });
}

void get_of_a_finished_call_in_a_callback() {
  mock_producer mock;
  mock.produce({.topic = "t"}, [&](const outcome&) { static_cast<void>(mock.status().get()); });
}

void get_before_the_decision() {
  mock_producer mock{{.auto_complete = false, .get_wait_max = std::chrono::milliseconds{20}}};
  mock.produce({.topic = "t"}, [](const outcome&) {});
  static_cast<void>(mock.flush().get());
}

void wait_for_an_event_that_does_not_come() {
  mock_producer mock{{.get_wait_max = std::chrono::milliseconds{20}}};
  event_stream events = mock.events();
  static_cast<void>(events.next().get());
}

void destroy_in_a_callback() {
  auto mock = std::make_unique<mock_producer>();
  mock->produce({.topic = "t"}, [&](const outcome&) { mock.reset(); });
}

TEST(MockLikeness, GetInACallbackIsABrokenContractAsOnALane) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(get_in_a_callback(), "get.. was called where the lane runs");
  EXPECT_DEATH(get_of_a_finished_call_in_a_callback(), "get.. was called where the lane runs");
  EXPECT_DEATH(destroy_in_a_callback(), "destroyed in a callback");
}

TEST(MockLikeness, GetDoesNotWaitForEverForWhatNobodyDecides) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(get_before_the_decision(), "get.. waited in vain");
  EXPECT_DEATH(wait_for_an_event_that_does_not_come(), "get.. waited in vain");
}

TEST(MockLikeness, CallsOfACallbackAreDoneAfterIt) {
  mock_producer mock;
  std::string order;
  mock.produce({.topic = "t"}, [&](const outcome&) {
    mock.pause("t", 0).then([&](bool) { order += "paused "; });
    mock.flush().then([&](const tally&) { order += "flushed "; });
    order += "callback ";
  });
  EXPECT_EQ(order, "callback paused flushed ");
}

}  // namespace
}  // namespace partita::testing
