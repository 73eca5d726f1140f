// Topics that get more partitions: META-08, META-09.
#include "tests/sim/metadata_stage.hpp"

#include <partita/partitioner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using namespace metadata_stage;  // NOLINT: the words of this file

TEST(fault_meta, meta_08_partitions_grow) {
  history story(curious_stage());
  warm_up(story);
  fault slow = refusal(0, broker_errc::not_enough_replicas, 5);
  story.cluster().inject(slow);
  const std::size_t a = produce(story, 0);
  ASSERT_EQ(story.cluster().add_partitions(topic, 6), broker_errc::none);
  story.run_for(seconds(2));
  const std::size_t b = produce(story, 5);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

/// A key that murmur2 puts into `before` of 3 partitions and into `after` of 5.
std::string key_that_moves(int before, int after) {
  for (int i = 0;; ++i) {
    const std::string key = "key-" + std::to_string(i);
    if (partition_of_key(partitioner_kind::murmur2_random, key, 3)->value == before &&
        partition_of_key(partitioner_kind::murmur2_random, key, 5)->value == after)
      return key;
  }
}

TEST(fault_meta, meta_09_growth_drain_first) {
  history_options options = curious_stage();
  options.config.growth = partition_growth::drain_first;
  history story(options);
  warm_up(story);
  const std::string moving = key_that_moves(0, 4);
  const std::string staying = key_that_moves(1, 1);
  std::vector<std::string> told;
  const auto send = [&](const std::string& key, const std::string& name) {
    story.producer().produce({.topic = topic, .key = key, .value = name},
                             [&told, name](const outcome& answer) {
                               EXPECT_TRUE(answer.is_delivered()) << name;
                               told.push_back(name);
                             });
  };
  fault slow;
  slow.topic = topic;
  slow.partition = 0;
  slow.answer_after = milliseconds(1900);
  story.cluster().inject(slow);
  send(moving, "A");
  ASSERT_EQ(story.cluster().add_partitions(topic, 5), broker_errc::none);
  story.run_for(milliseconds(1000));  // the growth is noticed
  send(moving, "B");
  send(moving, "C");
  send(staying, "other");
  story.run_for(milliseconds(500));
  // Another broker leads it: the slow answer alone would not have held the moved records up.
  ASSERT_NE(story.cluster().view(topic, 4)->leader, story.cluster().view(topic, 0)->leader);
  EXPECT_EQ(told, (std::vector<std::string>{"other"}));
  EXPECT_TRUE(story.cluster().log(topic, 4).empty()) << "sent before A had its outcome";
  bool flushed = false;
  auto flush = story.producer().flush(topic);
  ASSERT_TRUE(story.world().time().run_until([&] { return told.size() == 4; }, seconds(2)));
  EXPECT_EQ(told, (std::vector<std::string>{"other", "A", "B", "C"}));
  flushed = wait_for(story.world(), std::move(flush)).delivered >= 2;
  EXPECT_TRUE(flushed);
  EXPECT_EQ(story.cluster().log(topic, 4).size(), 2U);
}

// A record that waits for its key's old partition ends at its own deadline, and nobody waits for
// it.
TEST(fault_meta, meta_09_growth_drain_first_deadline) {
  history_options options = curious_stage();
  options.config.growth = partition_growth::drain_first;
  options.config.on_failure = failure_policy::skip;
  history story(options);
  warm_up(story);
  const std::string moving = key_that_moves(0, 4);
  wait_for(story.world(), story.producer().pause(topic, 0));
  std::optional<outcome> told;
  story.producer().produce({.topic = topic, .key = moving, .value = "A"}, [](const outcome&) {});
  ASSERT_EQ(story.cluster().add_partitions(topic, 5), broker_errc::none);
  story.run_for(seconds(1));
  produce_options soon;
  soon.delivery_timeout = seconds(2);
  story.producer().produce({.topic = topic, .key = moving, .value = "B"}, soon,
                           [&](const outcome& answer) { told.emplace(answer); });
  story.run_for(milliseconds(1900));
  EXPECT_FALSE(told.has_value());
  ASSERT_TRUE(story.world().time().run_until([&] { return told.has_value(); }, milliseconds(400)));
  ASSERT_NE(told->failure(), nullptr);
  EXPECT_EQ(told->failure()->code, make_error_code(client_errc::delivery_timeout));
  EXPECT_EQ(told->failure()->fate, fate::not_written);
  EXPECT_TRUE(story.cluster().log(topic, 4).empty());
}

// However the threads' turns, the growth and lost answers fall: a key's outcomes come in its order,
// and the log of its partitions has it in that order too, one after the other.
TEST(fault_meta, meta_09_growth_drain_first_seeds) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    history_options options = curious_stage();
    options.seed = seed;
    options.lanes = 1 + static_cast<int>(seed % 3);
    options.config.growth = partition_growth::drain_first;
    options.config.delivery_timeout = std::chrono::minutes(2);
    options.config.metadata_max_age = milliseconds(100);
    history story(options);
    fault_mix mix;
    mix.lose_answer = 0.03;
    mix.delay = 0.2;
    mix.delay_max = milliseconds(300);
    story.cluster().inject(mix);
    std::map<std::string, std::vector<int>> told;
    int answers = 0;
    constexpr int records = 300;
    for (int i = 0; i < records; ++i) {
      if (i == 100) {
        ASSERT_EQ(story.cluster().add_partitions(topic, 6), broker_errc::none);
      }
      if (i == 180) {
        ASSERT_EQ(story.cluster().add_partitions(topic, 11), broker_errc::none);
      }
      const std::string key = "key-" + std::to_string(i % 12);
      story.producer().produce({.topic = topic, .key = key, .value = std::to_string(i)},
                               [&, key, i](const outcome& answer) {
                                 EXPECT_TRUE(answer.is_delivered()) << "seed " << seed;
                                 told[key].push_back(i);
                                 ++answers;
                               });
      story.run_for(milliseconds(5));
    }
    ASSERT_TRUE(
        story.world().time().run_until([&] { return answers == records; }, std::chrono::minutes(3)))
        << "seed " << seed;
    for (const auto& [key, order] : told)
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << key << ", seed " << seed;
    (void)wait_for(story.world(), story.producer().flush());
  }
}

}  // namespace
}  // namespace partita::testing
