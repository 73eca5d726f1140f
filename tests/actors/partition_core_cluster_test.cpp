// What a partition makes of news about its leader and its topic.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::partition_bench;

partition_settings quick() {
  auto with = partition_bench::quick();
  with.batch_records_max = 1;
  with.on_failure = failure_policy::halt_partition;
  return with;
}

void replace_topic(partition_bench& b) {
  b.core->new_incarnation(b.now);
  b.core->settle(b.now);
}

// Found by the histories: with nothing open nobody cared, and the recovery wrote it to both logs.
TEST(PartitionCoreCluster, WhatTheOldLogMayHoldIsNotSentToTheNewOneAsItIs) {
  partition_bench b(quick());
  b.started();
  b.produce();
  b.lose(b.send());
  b.advance(10s);
  EXPECT_EQ(b.told(0).substr(0, 7), "unknown");
  replace_topic(b);

  auto& run = b.recover(recovery::resubmit);

  EXPECT_EQ(run.command.report.left_out.size(), 1U);
  EXPECT_EQ(b.send(), nullptr);
  b.end();
}

// A refusal that arrives after the move it speaks of needs no backoff (META-07).
TEST(PartitionCoreCluster, ARefusalOlderThanTheNewsOfTheLeaderIsRetriedAtOnce) {
  partition_bench b(quick());
  b.started().establish();
  b.produce();
  batch* sent = b.send();
  b.leader(2, 2);

  b.answer(sent, broker_errc::not_leader_or_follower);

  batch* again = b.send();
  ASSERT_EQ(again, sent);
  b.deliver(again, 1);
  b.end();
}

TEST(PartitionCoreCluster, ARefusalByTheLeaderThatIsStillNamedIsBackedOff) {
  partition_bench b(quick());
  b.started().establish();
  b.produce();
  b.answer(b.send(), broker_errc::not_leader_or_follower);
  b.leader(1, 1);
  EXPECT_EQ(b.send(), nullptr);
  b.advance(200ms);
  b.deliver(b.send(), 1);
  b.end();
}

TEST(PartitionCoreCluster, ANewIncarnationWithNothingOpenGoesOn) {
  partition_bench b(quick());
  b.started().establish(40);
  replace_topic(b);
  const int a = b.produce();
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(a), "delivered@0");
  EXPECT_EQ(b.halts, 0);
  b.end();
}

TEST(PartitionCoreCluster, WhatWasQueuedForTheOldIncarnationFailsInOrderAndHalts) {
  partition_bench b(quick());
  b.started().establish();
  b.core->set_leader(broker_id(), 1, b.now);
  const int first = b.produce(3);
  replace_topic(b);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(b.told(first + i), "not_written topic_replaced");
  EXPECT_LT(b.place_of("halted topic_replaced"),
            b.place_of(std::to_string(first) + " not_written topic_replaced"));
  EXPECT_LT(b.place_of(std::to_string(first) + " not_written topic_replaced"),
            b.place_of(std::to_string(first + 2) + " not_written topic_replaced"));
  EXPECT_EQ(b.status().state, partition_state::halted);

  b.leader(2, 0);
  auto& run = b.recover(recovery::resubmit);
  for (int i = 0; i < 3; ++i) b.deliver(b.send(), i);
  EXPECT_TRUE(run.done);
  EXPECT_EQ(run.resubmitted,
            (std::vector<std::string>{"delivered@0", "delivered@1", "delivered@2"}));
  b.end();
}

TEST(PartitionCoreCluster, WhatIsUnderWayAtTheOldIncarnationHasItsSayFirst) {
  partition_bench b(quick());
  b.started().establish();
  const int taken = b.produce();
  const int refused = b.produce();
  const int queued = b.produce();
  batch* one = b.send();
  batch* two = b.send();
  replace_topic(b);
  EXPECT_EQ(b.told(queued), "");
  EXPECT_EQ(b.send(), nullptr) << "meant for the log that is gone";
  b.deliver(one, 1);
  b.answer(two, broker_errc::unknown_topic_id);

  EXPECT_EQ(b.told(taken), "delivered@1");
  EXPECT_EQ(b.told(refused), "not_written topic_replaced");
  EXPECT_EQ(b.told(queued), "not_written topic_replaced");
  EXPECT_EQ(b.halts, 1);
  b.recover(recovery::discard);
  const int next = b.produce();
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(next), "delivered@0");
  b.end();
}

TEST(PartitionCoreCluster, WhatIsInDoubtWhenItsTopicIsReplacedEndsUnknown) {
  partition_bench b(quick());
  b.started().establish();
  const int a = b.produce();
  b.lose(b.send());
  replace_topic(b);
  EXPECT_EQ(b.told(a), "unknown topic_replaced");
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.end();
}

TEST(PartitionCoreCluster, AReplacedTopicHaltsWhateverThePolicy) {
  auto with = quick();
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.started().establish();
  b.core->set_leader(broker_id(), 1, b.now);
  b.produce();
  replace_topic(b);
  EXPECT_EQ(b.halts, 1);
  b.end();
}

TEST(PartitionCoreCluster, WhatWasResubmittedFailsWithASecondReplacement) {
  partition_bench b(quick());
  b.started().establish();
  b.core->set_leader(broker_id(), 1, b.now);
  b.produce();
  replace_topic(b);
  auto& run = b.recover(recovery::resubmit);
  replace_topic(b);
  EXPECT_EQ(run.resubmitted, (std::vector<std::string>{"not_written topic_replaced"}));
  EXPECT_EQ(b.halts, 2);
  b.end();
}

// ODD-04
TEST(PartitionCoreCluster, ASuccessAtANegativeOffsetIsAContradiction) {
  partition_bench b(quick());
  b.started().establish();
  const int a = b.produce();
  b.deliver(b.send(), -7);
  EXPECT_EQ(b.told(a), "unknown invariant_broken");
  EXPECT_EQ(b.contradictions, 1);
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.end();
}

}  // namespace
}  // namespace partita::actors
