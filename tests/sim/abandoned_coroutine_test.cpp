// Coroutines that are destroyed while they wait for an answer.
#include "tests/sim/history.hpp"
#include "tests/sim/owned_coroutine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

owned_coroutine produce_value(producer& to, std::string value, bool& continued) {
  record one;
  one.topic = history::topic();
  one.value = value;
  one.partition = 0;
  static_cast<void>(co_await to.produce(one));
  continued = true;
}

owned_coroutine await_flush(producer& of, bool& continued) {
  static_cast<void>(co_await of.flush());
  continued = true;
}

owned_coroutine await_event(event_stream& events, std::optional<partition_event>& seen) {
  seen = co_await events.next();
}

bool holds(const std::vector<log_record>& log, const std::string& value) {
  return std::any_of(log.begin(), log.end(),
                     [&](const log_record& each) { return each.value == value; });
}

TEST(AbandonedCoroutine, ItsRecordGoesOnAndNobodyIsTold) {
  history story({});
  bool continued = false;
  bool other_continued = false;
  owned_coroutine gone = produce_value(story.producer(), "of the one that went", continued);
  const owned_coroutine stays = produce_value(story.producer(), "of the other", other_continued);
  gone.destroy();
  ASSERT_TRUE(
      story.world().time().run_until([&] { return other_continued; }, std::chrono::minutes(1)));
  EXPECT_FALSE(continued);
  const auto log = story.cluster().log(history::topic(), 0);
  EXPECT_TRUE(holds(log, "of the one that went"));
  EXPECT_TRUE(holds(log, "of the other"));
}

// Its record waits for room, and the bytes were the coroutine's.
TEST(AbandonedCoroutine, ARecordThatWaitsForRoomHasItsOwnBytes) {
  history_options options;
  options.config = hurried_config();
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 1500;
  history story(options);
  story.produce(0, "first", 900);
  bool continued = false;
  const std::string value(700, 'w');
  owned_coroutine gone = produce_value(story.producer(), value, continued);
  gone.destroy();
  ASSERT_TRUE(story.run_until_answered());
  story.run_for(std::chrono::seconds(5));
  EXPECT_FALSE(continued);
  EXPECT_TRUE(holds(story.cluster().log(history::topic(), 0), value));
}

TEST(AbandonedCoroutine, TheProducerMayEndAfterIt) {
  history story({});
  bool continued = false;
  owned_coroutine gone = produce_value(story.producer(), "unanswered", continued);
  gone.destroy();
  story.end_producer();
  EXPECT_FALSE(continued);
}

TEST(AbandonedCoroutine, AControlCallGoesOn) {
  history story({});
  story.produce(0, "k");
  bool continued = false;
  owned_coroutine gone = await_flush(story.producer(), continued);
  gone.destroy();
  ASSERT_TRUE(story.run_until_answered());
  story.run_for(std::chrono::seconds(1));
  EXPECT_FALSE(continued);
}

TEST(AbandonedCoroutine, TheNextOneGetsTheEvent) {
  history story({});
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  event_stream events = story.producer().events();
  std::optional<partition_event> lost;
  owned_coroutine gone = await_event(events, lost);
  gone.destroy();
  story.producer().halt(history::topic(), 0);
  story.run_for(std::chrono::seconds(1));
  EXPECT_FALSE(lost);
  std::optional<partition_event> seen;
  const owned_coroutine next = await_event(events, seen);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->change, partition_change::halted);
}

}  // namespace
}  // namespace partita::testing
