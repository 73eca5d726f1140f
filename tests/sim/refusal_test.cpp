// Records that are refused before a partition has them: when they are told, and with which words.
#include "tests/sim/history.hpp"
#include "tests/sim/owned_coroutine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using std::chrono::milliseconds;

record to(const char* topic, std::string_view value = "v") {
  record one;
  one.topic = topic;
  one.key = "k";
  one.value = value;
  return one;
}

// Deeper than any stack.
constexpr int many = 200'000;

TEST(Refusal, IsToldInsideTheCall) {
  history story({});
  std::optional<outcome> told;
  story.producer().produce(to("not a topic"), [&](const outcome& answer) { told = answer; });
  ASSERT_TRUE(told);
  EXPECT_EQ(told->failure()->code, client_errc::invalid_topic);
}

TEST(Refusal, ACallbackThatProducesAgainDoesNotGoDeeper) {
  history story({});
  int refused = 0;
  std::function<void(const outcome&)> again = [&](const outcome& answer) {
    EXPECT_EQ(answer.failure()->code, client_errc::invalid_topic);
    if (++refused < many) story.producer().produce(to("not a topic"), again);
  };
  story.producer().produce(to("not a topic"), again);
  EXPECT_LE(refused, 2) << "the rest is told on a lane";
  story.run_for(milliseconds(1));
  EXPECT_EQ(refused, many);
}

TEST(Refusal, OfAClosedProducerDoesNotGoDeeperEither) {
  history story({});
  static_cast<void>(wait_for(story.world(), story.producer().close(milliseconds(10))));
  int refused = 0;
  std::function<void(const outcome&)> again = [&](const outcome& answer) {
    EXPECT_EQ(answer.failure()->code, client_errc::closed);
    if (++refused < many) story.producer().produce(to("t"), again);
  };
  story.producer().produce(to("t"), again);
  story.run_for(milliseconds(1));
  EXPECT_EQ(refused, many);
}

TEST(Refusal, OfABatchAndInACoroutineDoesNotGoDeeperEither) {
  history story({});
  int refused = 0;
  const record wrong = to("not a topic");
  std::function<void()> batch = [&] {
    story.producer().produce_batch({&wrong, 1}).then([&](const std::vector<outcome>&) {
      if (++refused < many) batch();
    });
  };
  batch();
  story.run_for(milliseconds(1));
  EXPECT_EQ(refused, many);

  int awaited = 0;
  const owned_coroutine loop = [](producer& owner, int& count) -> owned_coroutine {
    while (count < many) {
      static_cast<void>(co_await owner.produce(to("not a topic")));
      ++count;
    }
  }(story.producer(), awaited);
  EXPECT_TRUE(loop.done());
  EXPECT_EQ(awaited, many);
}

TEST(Refusal, WhatCallbacksProduceWhileTheProducerEndsIsToldByTheDestructor) {
  history story({});
  producer& one = story.producer();
  std::vector<std::error_code> codes;
  std::function<void(const outcome&)> again = [&](const outcome& answer) {
    codes.push_back(answer.failure()->code);
    if (codes.size() < 5) one.produce(to(history::topic()), again);
  };
  one.produce(to(history::topic()), again);
  story.end_producer();
  EXPECT_EQ(codes, std::vector<std::error_code>(5, client_errc::closed));
}

TEST(Refusal, ExceptionsAreCounted) {
  history story({});
  story.producer().produce(to("not a topic"), [](const outcome&) { throw 1; });
  EXPECT_EQ(wait_for(story.world(), story.producer().status()).callback_exceptions, 1U);
}

TEST(Refusal, ACallbackMayDestroyAnotherProducer) {
  history story({});
  history other({});
  int told = 0;
  std::function<void(const outcome&)> again = [&](const outcome&) {
    if (++told == 1) other.producer().produce(to("not a topic"), again);
  };
  other.producer().produce(to("not a topic"), again);  // the second waits for its lane
  story.producer().produce(to("not a topic"), [&](const outcome&) {
    other.end_producer();
    story.producer().produce(to("not a topic"), again);
    EXPECT_EQ(told, 2) << "only that of the other one";
  });
  story.run_for(milliseconds(1));
  EXPECT_EQ(told, 3);
}

/// Tries until it is taken; heeds that the producer is closed, or does not until it gives up.
struct stubborn {
  producer& owner;
  std::atomic<int> delivered{0};
  std::atomic<int> closed{0};
  std::atomic<int> full{0};
  std::atomic<bool> heeds_closing{true};
  std::atomic<bool> gives_up{false};

  void produce(std::string_view value) {
    owner.produce(to(history::topic(), value), [this, value](const outcome& answer) {
      if (answer) {
        ++delivered;
      } else if (gives_up || (heeds_closing && answer.failure()->code == client_errc::closed)) {
        ++closed;
      } else {
        ++full;
        produce(value);
      }
    });
  }
  [[nodiscard]] int ended() const { return delivered + closed; }
};

producer_config narrow() {
  producer_config config;
  config.batch_size_bytes = 1000;
  config.buffer_memory_bytes = 2000;
  return config;
}

producer_config unanswered() {
  producer_config config = narrow();
  config.bootstrap_servers = "127.0.0.1:1";
  return config;
}

TEST(Refusal, WhoProducesAgainForLackOfRoomHoldsNothingUp) {
  loopback_cluster brokers;
  ASSERT_FALSE(brokers.listening());
  producer_config config = narrow();
  config.bootstrap_servers = brokers.bootstrap();
  producer one(config);
  stubborn all{one};
  constexpr int records = 200;
  for (int i = 0; i < records; ++i) all.produce("v");
  while (all.ended() < records) static_cast<void>(one.flush().get());
  EXPECT_EQ(all.delivered, records);
  EXPECT_GT(all.full, 0);
}

// Nobody answers, so there is never room again.
TEST(Refusal, WhoProducesAgainForLackOfRoomDoesNotKeepCloseFromEnding) {
  std::optional<producer> one(std::in_place, unanswered());
  stubborn all{*one};
  constexpr int records = 200;
  for (int i = 0; i < records; ++i) all.produce("v");
  while (all.full < 10 * records) std::this_thread::yield();
  const close_report report = one->close(milliseconds(50)).get();
  EXPECT_EQ(report.unsent.size(), report.answered.not_written);
  one.reset();
  EXPECT_EQ(all.closed, records);
  EXPECT_EQ(all.delivered, 0);
}

// What is told `closed` is produced again: close() ends all the same. (The destructor would not.)
TEST(Refusal, WhoProducesAgainForEverDoesNotKeepCloseFromEnding) {
  std::optional<producer> one(std::in_place, unanswered());
  stubborn all{*one};
  all.heeds_closing = false;
  constexpr int records = 200;
  for (int i = 0; i < records; ++i) all.produce("v");
  while (all.full < 10 * records) std::this_thread::yield();
  static_cast<void>(one->close(milliseconds(50)).get());
  const int before = all.full;
  while (all.full < before + 10 * records) std::this_thread::yield();
  all.gives_up = true;
  one.reset();
  EXPECT_EQ(all.closed, records);
}

TEST(Refusal, WhoProducesAgainForLackOfRoomDoesNotKeepTheDestructorFromEnding) {
  std::optional<producer> one(std::in_place, unanswered());
  stubborn all{*one};
  constexpr int records = 200;
  for (int i = 0; i < records; ++i) all.produce("v");
  while (all.full < 10 * records) std::this_thread::yield();
  one.reset();
  EXPECT_EQ(all.closed, records);
}

// Whether the topic is known already or not.
TEST(Refusal, OfARecordThatIsTooLargeNamesSizeAndLimit) {
  history_options options;
  options.config.on_failure = failure_policy::skip;
  history story(options);
  const std::string value(1'100'000, 'v');
  for (int round = 0; round < 2; ++round) {
    std::optional<outcome> told;
    story.producer().produce(to(history::topic(), value),
                             [&](const outcome& answer) { told = answer; });
    ASSERT_TRUE(
        story.world().time().run_until([&] { return told.has_value(); }, std::chrono::minutes(2)));
    const failed& failure = *told->failure();
    EXPECT_EQ(failure.code, client_errc::record_too_large);
    EXPECT_NE(failure.detail.find("max.request.size is 1048576"), std::string::npos)
        << failure.detail;
    EXPECT_NE(failure.detail.find(" 1100"), std::string::npos) << failure.detail;
  }
}

TEST(Refusal, OfARecordThatIsTooLargeForTheMemoryNamesThat) {
  history_options options;
  options.config = hurried_config();
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 1500;
  history story(options);
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  const std::string value(1600, 'v');
  std::optional<outcome> told;
  story.producer().produce(to(history::topic(), value),
                           [&](const outcome& answer) { told = answer; });
  ASSERT_TRUE(
      story.world().time().run_until([&] { return told.has_value(); }, std::chrono::minutes(2)));
  EXPECT_EQ(told->failure()->code, client_errc::record_too_large);
  EXPECT_NE(told->failure()->detail.find("buffer.memory is 1500"), std::string::npos)
      << told->failure()->detail;
}

TEST(Refusal, OfABatchThatCanNeverFitNamesSizeAndLimit) {
  history_options options;
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 1500;
  history story(options);
  const std::string value(800, 'v');
  const std::vector<record> both(2, to(history::topic(), value));
  const auto told = wait_for(story.world(), story.producer().produce_batch(both));
  ASSERT_EQ(told.size(), 2U);
  for (const outcome& each : told) {
    EXPECT_EQ(each.failure()->code, client_errc::buffer_full);
    EXPECT_NE(each.failure()->detail.find("buffer.memory is 1500"), std::string::npos)
        << each.failure()->detail;
  }
}

TEST(Refusal, TheHandlerSeesNoValueOfARecordThatIsTooLarge) {
  history_options options;
  std::optional<bool> has_value;
  std::string detail;
  options.config = hurried_config();
  options.config.failure_handler = [&](const failure_view& failed) {
    failed.for_each([&](const record& one) { has_value = one.value.has_value(); });
    detail = failed.failure().detail;
    return failure_verdict::skip;
  };
  history story(options);
  const std::string value(1'100'000, 'v');
  story.producer().produce(to(history::topic(), value), [](const outcome&) {});
  ASSERT_TRUE(story.world().time().run_until([&] { return has_value.has_value(); },
                                             std::chrono::minutes(2)));
  EXPECT_FALSE(*has_value);
  EXPECT_NE(detail.find("max.request.size"), std::string::npos);
}

TEST(DeliveryTimeout, OneThatIsOverEndsTheRecordUnsent) {
  for (const milliseconds over : {milliseconds(0), milliseconds(-1), milliseconds::min()}) {
    history story({});
    produce_options options;
    options.delivery_timeout = over;
    std::optional<outcome> told;
    story.producer().produce(to(history::topic()), options,
                             [&](const outcome& answer) { told = answer; });
    std::vector<outcome> batch;
    const record one = to(history::topic());
    story.producer().produce_batch({&one, 1}, options).then([&](const std::vector<outcome>& all) {
      batch = all;
    });
    ASSERT_TRUE(story.world().time().run_until([&] { return told && !batch.empty(); },
                                               std::chrono::minutes(1)));
    EXPECT_EQ(told->failure()->fate, fate::not_written);
    EXPECT_EQ(told->failure()->code, client_errc::delivery_timeout);
    EXPECT_EQ(told->failure()->ended_by, limit::delivery_timeout);
    EXPECT_EQ(told->failure()->attempts, 0);
    EXPECT_EQ(batch.front().failure()->fate, fate::not_written);
    static_cast<void>(wait_for(story.world(), story.producer().flush()));
    EXPECT_EQ(wait_for(story.world(), story.producer().status()).buffered_bytes, 0U);
    EXPECT_TRUE(story.cluster().log(history::topic(), 0).empty());
  }
}

TEST(DeliveryTimeout, OneWithoutEndIsTaken) {
  history story({});
  produce_options options;
  options.delivery_timeout = milliseconds::max();
  std::optional<outcome> told;
  story.producer().produce(to(history::topic()), options,
                           [&](const outcome& answer) { told = answer; });
  ASSERT_TRUE(
      story.world().time().run_until([&] { return told.has_value(); }, std::chrono::minutes(1)));
  EXPECT_TRUE(told->is_delivered());
}

/// A producer whose record fails on its lane in a moment; never returns.
template <class Answered>
void produce_in_vain(Answered answered) {
  producer_config config;
  config.bootstrap_servers = "127.0.0.1:1";
  config.max_block = milliseconds(1);
  auto* one = new producer(config);
  std::promise<void> never;
  one->produce(to("t"), [&](const outcome&) { answered(one); });
  never.get_future().wait();
}

void destroy_on_its_lane() {
  produce_in_vain([](producer* one) { delete one; });
}
void wait_on_its_lane() {
  produce_in_vain([](producer* one) { static_cast<void>(one->status().get()); });
}

TEST(ProducerDeathTest, DestroyingAProducerOnItsOwnLaneSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(destroy_on_its_lane(), "a producer was destroyed on its own lane");
}

void destroy_in_a_refusal() {
  producer_config config;
  config.bootstrap_servers = "127.0.0.1:1";
  auto* one = new producer(config);
  one->produce(to("not a topic"), [&](const outcome&) { delete one; });
}

TEST(ProducerDeathTest, DestroyingAProducerInsideARefusalSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(destroy_in_a_refusal(), "a producer was destroyed on its own lane");
}

TEST(ProducerDeathTest, WaitingOnALaneSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(wait_on_its_lane(), "where the lane runs that has to do the work");
}

}  // namespace
}  // namespace partita::testing
