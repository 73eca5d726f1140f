// Topics that get more partitions: META-08, META-09.
#include "tests/sim/metadata_stage.hpp"

#include <partita/partitioner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
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

/// A record of a key that moves waits for its old partition, which is paused.
class waiting_for_its_old_partition {
 public:
  waiting_for_its_old_partition() : story_(drained_stage()), moving_(key_that_moves(0, 4)) {
    warm_up(story_);
    wait_for(story_.world(), producer().pause(topic, 0));
    send("A");
    EXPECT_EQ(story_.cluster().add_partitions(topic, 5), broker_errc::none);
    story_.run_for(seconds(1));
  }

  [[nodiscard]] history& story() { return story_; }
  [[nodiscard]] partita::producer& producer() { return story_.producer(); }
  [[nodiscard]] const std::string& moving() const { return moving_; }
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  [[nodiscard]] const outcome& answer(const std::string& name) const { return answers_.at(name); }

  void send(const std::string& name, const produce_options& how = {}) {
    send(name, record{.topic = topic, .key = moving_, .value = name}, how);
  }
  void send_to(int partition, const std::string& name, std::optional<std::string_view> key) {
    send(name, record{.topic = topic, .key = key, .value = name, .partition = partition}, {});
  }
  bool run_until_told(std::size_t count) {
    return story_.world().time().run_until([&] { return told_.size() >= count; }, seconds(2));
  }

 private:
  static history_options drained_stage() {
    history_options options = curious_stage();
    options.config.growth = partition_growth::drain_first;
    return options;
  }
  void send(const std::string& name, const record& what, const produce_options& how) {
    producer().produce(what, how, [this, name](const outcome& answer) {
      told_.push_back(name);
      answers_.emplace(name, answer);
    });
  }

  std::vector<std::string> told_;
  std::map<std::string, outcome> answers_;
  history story_;
  const std::string moving_;
};

TEST(fault_meta, meta_09_growth_drain_first_cancel) {
  waiting_for_its_old_partition at;
  std::stop_source stop;
  produce_options cancellable;
  cancellable.cancellation = stop.get_token();
  at.send("B", cancellable);
  at.send("C");
  auto flush = at.producer().flush();
  stop.request_stop();
  at.story().run_for(milliseconds(50));
  ASSERT_EQ(at.told(), (std::vector<std::string>{"B"}));
  ASSERT_NE(at.answer("B").failure(), nullptr);
  EXPECT_EQ(at.answer("B").failure()->code, make_error_code(client_errc::cancelled));
  EXPECT_EQ(at.answer("B").failure()->fate, fate::not_written);
  wait_for(at.story().world(), at.producer().resume(topic, 0));
  ASSERT_TRUE(at.run_until_told(3));
  EXPECT_EQ(at.told(), (std::vector<std::string>{"B", "A", "C"}));
  EXPECT_EQ(wait_for(at.story().world(), std::move(flush)).not_written, 1U);
  EXPECT_EQ(at.story().cluster().log(topic, 4).size(), 1U);
}

// What can not be cancelled any more is its admission: that was over.
TEST(fault_meta, meta_09_growth_drain_first_admission_is_over) {
  waiting_for_its_old_partition at;
  std::stop_source stop;
  produce_options cancellable;
  cancellable.admission_cancellation = stop.get_token();
  at.send("B", cancellable);
  stop.request_stop();
  wait_for(at.story().world(), at.producer().resume(topic, 0));
  ASSERT_TRUE(at.run_until_told(2));
  EXPECT_TRUE(at.answer("B").is_delivered());
}

TEST(fault_meta, meta_09_growth_drain_first_close) {
  waiting_for_its_old_partition at;
  at.send("B");
  at.send("C");
  const close_report report = wait_for(at.story().world(), at.producer().close(milliseconds(100)));
  EXPECT_EQ(report.answered, (tally{0, 3, 0}));
  std::vector<std::string> unsent;
  for (const owned_record& each : report.unsent) unsent.push_back(each.value.value_or(""));
  EXPECT_EQ(unsent, (std::vector<std::string>{"A", "B", "C"}));
}

TEST(fault_meta, meta_09_growth_drain_first_abort) {
  waiting_for_its_old_partition at;
  at.send_to(4, "other", "another key");
  ASSERT_TRUE(at.run_until_told(1));
  at.send("B");
  at.send_to(4, "C", at.moving());
  wait_for(at.story().world(), at.producer().pause(topic, 4, pause_mode::abort_buffered));
  ASSERT_TRUE(at.run_until_told(3));
  EXPECT_EQ(at.told(), (std::vector<std::string>{"other", "B", "C"}));
  for (const char* name : {"B", "C"}) {
    ASSERT_NE(at.answer(name).failure(), nullptr);
    EXPECT_EQ(at.answer(name).failure()->code, make_error_code(client_errc::aborted));
    EXPECT_EQ(at.answer(name).failure()->fate, fate::not_written);
  }
  // It halts nothing, and nothing of it comes later.
  wait_for(at.story().world(), at.producer().resume(topic, 0));
  wait_for(at.story().world(), at.producer().resume(topic, 4));
  at.send("D");
  ASSERT_TRUE(at.run_until_told(5));
  EXPECT_TRUE(at.answer("A").is_delivered());
  EXPECT_TRUE(at.answer("D").is_delivered());
  EXPECT_EQ(at.story().cluster().log(topic, 4).size(), 2U);
}

// A record that names its partition passes the keys that wait, but not its own.
TEST(fault_meta, meta_09_growth_drain_first_named_partition) {
  waiting_for_its_old_partition at;
  at.send_to(4, "before", at.moving());
  at.send("B");
  at.send_to(4, "C", at.moving());
  at.send_to(4, "another key", "another key");
  at.send_to(4, "no key", std::nullopt);
  at.send_to(3, "another partition", at.moving());
  at.story().run_for(milliseconds(500));
  std::vector<std::string> passed = at.told();
  std::sort(passed.begin(), passed.end());
  EXPECT_EQ(passed,
            (std::vector<std::string>{"another key", "another partition", "before", "no key"}));
  wait_for(at.story().world(), at.producer().resume(topic, 0));
  ASSERT_TRUE(at.run_until_told(7));
  ASSERT_TRUE(at.answer("B").is_delivered());
  ASSERT_TRUE(at.answer("C").is_delivered());
  EXPECT_LT(at.answer("B").delivery()->offset, at.answer("C").delivery()->offset);
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
