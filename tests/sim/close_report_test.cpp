// What close() reports, what it hands back, and what the callbacks were told are one thing.
#include "tests/sim/history.hpp"
#include "tests/sim/owned_coroutine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> values_of(const std::vector<owned_record>& records) {
  std::vector<std::string> values;
  for (const owned_record& each : records) values.push_back(each.value.value_or(""));
  return values;
}

/// Answers of the callbacks, and the values of those that ended not_written, code closed.
struct told {
  tally counts;
  std::vector<std::string> closed;
  void take(const std::string& value, const outcome& answer) {
    const failed* failure = answer.failure();
    if (failure == nullptr)
      ++counts.delivered;
    else if (failure->fate == fate::unknown)
      ++counts.unknown;
    else
      ++counts.not_written;
    if (failure != nullptr && failure->fate == fate::not_written &&
        failure->code == client_errc::closed)
      closed.push_back(value);
  }
};

void produce(producer& to, int partition, const std::string& value, told& into) {
  record one;
  one.topic = history::topic();
  one.key = "k";
  one.value = value;
  one.partition = partition;
  to.produce(one, [&into, value](const outcome& answer) { into.take(value, answer); });
}

owned_coroutine await_one(producer& to, std::string value, told& into) {
  record one;
  one.topic = history::topic();
  one.value = value;
  one.partition = 0;
  const outcome answer = co_await to.produce(one);
  into.take(value, answer);
}

fault refused(broker_errc code) {
  fault planned;
  planned.execution = execution::skip;
  planned.code = code;
  planned.times = always;
  return planned;
}

history_options small_memory() {
  history_options options;
  options.config = hurried_config();
  options.config.linger = milliseconds(0);
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 1500;
  return options;
}

// The deadline was over before the flush reached the partition or the route, and then counted
// nothing.
TEST(CloseReport, ADeadlineThatIsOverCountsAndHandsBack) {
  for (int round = 0; round < 60; ++round) {
    producer_config config{.bootstrap_servers = "127.0.0.1:1"};
    producer one(config);
    std::atomic<std::uint64_t> not_written{0};
    for (const char* value : {"a", "b", "c"})
      one.produce({.topic = "t", .key = "k", .value = value},
                  [&](const outcome& answer) { not_written += answer.is_delivered() ? 0 : 1; });
    const close_report report = one.close(milliseconds(-5)).get();
    ASSERT_EQ(report.answered, (tally{0, 3, 0})) << "round " << round;
    EXPECT_EQ(not_written, 3U);
    EXPECT_EQ(values_of(report.unsent), (std::vector<std::string>{"a", "b", "c"}));
  }
}

TEST(CloseReport, APausedPartitionCountsAndHandsBack) {
  for (const milliseconds deadline : {milliseconds(-5), milliseconds(0), milliseconds(100)}) {
    history story(small_memory());
    story.produce(0, "warm");
    ASSERT_TRUE(story.run_until_answered());
    story.producer().pause(history::topic(), 0);
    told answers;
    produce(story.producer(), 0, "a", answers);
    produce(story.producer(), 0, "b", answers);
    const close_report report = wait_for(story.world(), story.producer().close(deadline));
    EXPECT_EQ(report.answered, answers.counts);
    EXPECT_EQ(report.answered, (tally{0, 2, 0}));
    EXPECT_EQ(values_of(report.unsent), answers.closed);
  }
}

// Sent, and proven unwritten: not_written too, so it is handed back like what was never sent.
TEST(CloseReport, WhatIsProvenUnwrittenIsHandedBack) {
  history_options options = small_memory();
  options.config.batch_records_max = 1;
  history story(options);
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  story.cluster().inject(refused(broker_errc::not_enough_replicas));
  told answers;
  for (const char* value : {"a", "b", "c"}) produce(story.producer(), 0, value, answers);
  story.run_for(milliseconds(50));
  const close_report report = wait_for(story.world(), story.producer().close(milliseconds(10)));
  EXPECT_EQ(report.answered, answers.counts);
  EXPECT_EQ(answers.counts.total(), 3U);
  EXPECT_FALSE(answers.closed.empty());
  EXPECT_EQ(values_of(report.unsent), answers.closed);
}

TEST(CloseReport, WhoWaitsForRoomCountsAndIsHandedBack) {
  history story(small_memory());
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  fault stuck;
  stuck.reply = reply::never;
  story.cluster().inject(stuck);
  told answers;
  produce(story.producer(), 0, std::string(900, 'f'), answers);
  const std::string awaited(700, 'a');
  const std::string batched(700, 'b');
  const owned_coroutine waits = await_one(story.producer(), awaited, answers);
  record of_batch;
  of_batch.topic = history::topic();
  of_batch.value = batched;
  of_batch.partition = 0;
  story.producer().produce_batch({&of_batch, 1}).then([&](const std::vector<outcome>& all) {
    answers.take(batched, all.front());
  });
  story.run_for(milliseconds(50));
  const close_report report = wait_for(story.world(), story.producer().close(milliseconds(20)));
  EXPECT_EQ(answers.counts, (tally{0, 2, 1}));
  EXPECT_EQ(report.answered, answers.counts);
  EXPECT_EQ(values_of(report.unsent), (std::vector<std::string>{awaited, batched}));
}

// What is refused after the call is no business of it.
TEST(CloseReport, WhatComesAfterTheCallDoesNotCount) {
  history story({});
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  told before;
  told after;
  produce(story.producer(), 0, "a", before);
  auto closing = story.producer().close(milliseconds(1000));
  produce(story.producer(), 0, "late", after);
  const close_report report = wait_for(story.world(), std::move(closing));
  EXPECT_EQ(after.counts, (tally{0, 1, 0}));
  EXPECT_EQ(report.answered, (tally{1, 0, 0}));
  EXPECT_EQ(before.counts, report.answered);
}

}  // namespace
}  // namespace partita::testing
