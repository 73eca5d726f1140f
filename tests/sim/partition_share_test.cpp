// One partition that can not be reached, and the others: HANG-17, META-17.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <exception>
#include <optional>
#include <string>

namespace partita::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* topic = "ledger";
constexpr std::size_t share_bytes = 256 * 1024;

history_options stage() {
  history_options options;
  options.config = hurried_config();
  options.config.linger = milliseconds(0);
  options.config.on_failure = failure_policy::skip;
  options.config.delivery_timeout = seconds(30);
  options.config.max_block = seconds(30);
  return options;
}

void warm_up(history& story) {
  for (int partition = 0; partition < 3; ++partition) story.produce(partition, "warm");
  ASSERT_TRUE(story.run_until_answered());
}

partition_status status_of(history& story, std::size_t partition) {
  return wait_for(story.world(), story.producer().status()).partitions.at(partition);
}

/// Starts at once and is forgotten.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

detached produce_one(producer& to, int partition, std::optional<outcome>& told) {
  record one;
  one.topic = topic;
  one.value = "waits";
  one.partition = partition;
  told.emplace(co_await to.produce(one));
}

/// A record a partition every two milliseconds; how many were taken.
std::array<int, 3> flood(history& story, int rounds) {
  static const std::string value(1000, 'v');
  std::array<int, 3> taken{};
  for (int round = 0; round < rounds; ++round) {
    for (int partition = 0; partition < 3; ++partition) {
      record one;
      one.topic = topic;
      one.value = value;
      one.partition = partition;
      const admission said = story.producer().try_produce(one, [](const outcome&) {});
      if (said == admission::accepted) ++taken[static_cast<std::size_t>(partition)];
    }
    story.run_for(milliseconds(2));
  }
  return taken;
}

TEST(fault_hang, hang_17_dead_broker_fills_memory) {
  history_options options = stage();
  options.config.buffer_memory_bytes = 1024 * 1024;
  options.config.partition_memory_bytes = share_bytes;
  history story(options);
  warm_up(story);
  story.world().cut_link(story.cluster().view(topic, 0)->leader);
  constexpr int rounds = 2500;
  const std::array<int, 3> taken = flood(story, rounds);
  EXPECT_GE(taken[1], rounds * 8 / 10);
  EXPECT_GE(taken[2], rounds * 8 / 10);
  EXPECT_LE(status_of(story, 0).buffered_bytes, share_bytes + 4096);

  // Who waits for the full partition holds nobody else up.
  std::optional<outcome> dead;
  std::optional<outcome> alive;
  produce_one(story.producer(), 0, dead);
  produce_one(story.producer(), 1, alive);
  ASSERT_TRUE(story.world().time().run_until([&] { return alive.has_value(); }, seconds(1)));
  EXPECT_TRUE(alive->is_delivered());
  EXPECT_FALSE(dead.has_value());

  story.world().heal_link(story.cluster().view(topic, 0)->leader);
  ASSERT_TRUE(story.world().time().run_until([&] { return dead.has_value(); }, seconds(20)));
  EXPECT_TRUE(dead->is_delivered());
  (void)wait_for(story.world(), story.producer().flush());
  EXPECT_EQ(wait_for(story.world(), story.producer().status()).buffered_bytes, 0U);
}

TEST(PartitionShare, WhoWaitsIsAnsweredInTimeAndByClose) {
  history_options options = stage();
  options.config.max_block = seconds(3);
  options.config.partition_memory_bytes = 4096;
  history story(options);
  warm_up(story);
  story.world().cut_link(story.cluster().view(topic, 0)->leader);
  flood(story, 10);
  std::optional<outcome> late;
  produce_one(story.producer(), 0, late);
  ASSERT_TRUE(story.world().time().run_until([&] { return late.has_value(); }, milliseconds(3100)));
  ASSERT_NE(late->failure(), nullptr);
  EXPECT_EQ(late->failure()->code, make_error_code(client_errc::admission_timeout));
  EXPECT_EQ(late->failure()->fate, fate::not_written);

  std::optional<outcome> closed;
  produce_one(story.producer(), 0, closed);
  (void)wait_for(story.world(), story.producer().close(milliseconds(100)));
  ASSERT_TRUE(closed.has_value());
  ASSERT_NE(closed->failure(), nullptr);
  EXPECT_EQ(closed->failure()->code, make_error_code(client_errc::closed));
}

// partitioner.availability.timeout.ms
TEST(fault_meta, meta_17_keyless_avoids_the_sick_a) {
  history_options options = stage();
  options.config.partitioner_availability_timeout = seconds(1);
  options.config.partitioner_sticky_bytes = 1;
  options.config.partitioner_adaptive = false;
  history story(options);
  warm_up(story);
  const broker_id sick = story.cluster().view(topic, 0)->leader;
  story.world().cut_link(sick);
  const auto stream = [&](int records) {
    for (int i = 0; i < records; ++i) {
      record one;
      one.topic = topic;
      one.value = "keyless";
      EXPECT_EQ(story.producer().try_produce(one, [](const outcome&) {}), admission::accepted);
      story.run_for(milliseconds(5));
    }
  };
  stream(600);
  const std::uint64_t before = status_of(story, 0).buffered_records;
  EXPECT_GT(before, 0U) << "nothing was avoided at first";
  stream(600);
  EXPECT_EQ(status_of(story, 0).buffered_records, before);
  story.world().heal_link(sick);
  story.run_for(seconds(60));
  const std::uint64_t healed = status_of(story, 0).answered.delivered;
  stream(600);
  EXPECT_GT(status_of(story, 0).answered.delivered, healed) << "avoided for ever";
}

TEST(fault_meta, meta_17_keyless_avoids_the_sick_b) {
  history_options options = stage();
  options.config.partitioner_sticky_bytes = 1;
  history story(options);
  warm_up(story);
  constexpr int records = 3000;
  std::array<int, 3> share{};
  int answers = 0;
  for (int i = 0; i < records; ++i) {
    record one;
    one.topic = topic;
    one.value = "keyless";
    story.producer().produce(one, [&](const outcome& answer) {
      ++answers;
      if (const delivered* where = answer.delivery())
        ++share.at(static_cast<std::size_t>(where->partition.value));
    });
    if (i % 100 == 0) story.run_for(milliseconds(1));
  }
  ASSERT_TRUE(
      story.world().time().run_until([&] { return answers == records; }, std::chrono::minutes(1)));
  for (const int each : share) EXPECT_NEAR(each, records / 3, records / 30);
}

}  // namespace
}  // namespace partita::testing
