// A log that lost acknowledged records: the contradiction halts the partition, and recover() takes
// the log for another one.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::partition_bench;

partition_settings with_policy(failure_policy policy) {
  auto with = partition_bench::quick();
  with.batch_records_max = 1;
  with.on_failure = policy;
  return with;
}

/// Record 0 lies at 100; record 1 was answered with offset 50, and halted the partition.
void contradict(partition_bench& b) {
  b.started().establish(100);
  b.produce();
  b.deliver(b.send(), 50);
  EXPECT_EQ(b.told(1), "unknown invariant_broken");
  EXPECT_EQ(b.status().state, partition_state::halted);
}

class OtherLogByPolicy : public ::testing::TestWithParam<failure_policy> {};

TEST_P(OtherLogByPolicy, IsGoneOnWithAfterRecover) {
  partition_bench b(with_policy(GetParam()));
  contradict(b);

  EXPECT_TRUE(b.recover(recovery::discard).done);
  const int next = b.produce(3);
  for (int i = 0; i < 3; ++i) b.deliver(b.send(), 51 + i);

  EXPECT_EQ(b.told(next), "delivered@51");
  EXPECT_EQ(b.told(next + 2), "delivered@53");
  EXPECT_EQ(b.contradictions, 1);
  EXPECT_EQ(b.halts, 1);
  EXPECT_EQ(b.status().last_offset, offset(53));
  b.end();
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, OtherLogByPolicy,
                         ::testing::Values(failure_policy::skip, failure_policy::halt_key,
                                           failure_policy::halt_partition,
                                           failure_policy::fail_following));

TEST(OtherLog, ContradictionsInItAreCaughtAsBefore) {
  partition_bench b(with_policy(failure_policy::skip));
  contradict(b);
  static_cast<void>(b.recover(recovery::discard));
  const int a = b.produce(2);
  b.deliver(b.send(), 51);

  b.deliver(b.send(), 51);

  EXPECT_EQ(b.told(a + 1), "unknown invariant_broken") << "the same place twice";
  EXPECT_EQ(b.contradictions, 2);
  static_cast<void>(b.recover(recovery::discard));
  const int next = b.produce();
  b.deliver(b.send(), -7);
  EXPECT_EQ(b.told(next), "unknown invariant_broken") << "a place that no log has";
  b.end();
}

TEST(OtherLog, WhereTheContradictedRecordLiesNoOtherIsAcknowledged) {
  partition_bench b(with_policy(failure_policy::skip));
  contradict(b);
  static_cast<void>(b.recover(recovery::discard));
  const int next = b.produce();
  b.deliver(b.send(), 50);
  EXPECT_EQ(b.told(next), "unknown invariant_broken");
  b.end();
}

TEST(OtherLog, IsNotTakenForOneBeforeTheContradictionWasTold) {
  partition_bench b(with_policy(failure_policy::halt_partition));
  b.started().establish(100);
  b.produce(2);
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 2U);
  b.core->halt_on_request({});
  b.deliver(sent[1], 50);  // told behind the older one
  EXPECT_EQ(b.told(2), "");

  static_cast<void>(b.recover(recovery::discard));
  b.deliver(sent[0], 101);

  EXPECT_EQ(b.told(1), "delivered@101");
  EXPECT_EQ(b.told(2), "unknown invariant_broken");
  const int next = b.produce();
  b.deliver(b.send(), 60);
  EXPECT_EQ(b.told(next), "unknown invariant_broken") << "nobody has said to go on with it";
  b.end();
}

TEST(OtherLog, WhatWasUnderWayIsJudgedByTheOldOneAndHaltsOnce) {
  partition_bench b(with_policy(failure_policy::halt_partition));
  b.started().establish(100);
  b.produce(3);
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 3U);
  b.deliver(sent[0], 50);
  b.deliver(sent[1], 51);
  auto& run = b.recover(recovery::discard);
  EXPECT_FALSE(run.done);

  b.deliver(sent[2], 52);

  EXPECT_TRUE(run.done);
  EXPECT_EQ(b.halts, 1);
  EXPECT_EQ(b.told(3), "unknown invariant_broken");
  const int next = b.produce();
  b.deliver(b.send(), 53);
  EXPECT_EQ(b.told(next), "delivered@53");
  b.end();
}

TEST(OtherLog, DecidesNothingOfWhatIsInDoubtFromBefore) {
  partition_bench b(with_policy(failure_policy::halt_partition));
  b.started().establish(100);
  b.produce();
  b.lose(b.send());
  b.advance(10s);  // it ends unknown, and halts
  EXPECT_EQ(b.told(1), "unknown delivery_timeout (answer_lost)");
  static_cast<void>(b.recover(recovery::discard));
  b.produce();
  b.reconnect();
  b.deliver(b.send(), 50);
  auto& asked = b.settle(b.tickets.at(1));
  auto& contradicted = b.settle(b.tickets.at(2));

  static_cast<void>(b.recover(recovery::discard));
  b.produce();
  b.deliver(b.send(), 51);  // a fence, in another log

  EXPECT_EQ(asked.verdict, "undecidable log_changed");
  EXPECT_EQ(contradicted.verdict, "undecidable log_changed");
  b.end();
}

TEST(OtherLog, DoubtThatBeginsInItIsSettledByIt) {
  partition_bench b(with_policy(failure_policy::skip));
  contradict(b);
  static_cast<void>(b.recover(recovery::discard));
  const int lost = b.produce();
  b.lose(b.send());
  b.advance(10s);
  auto& asked = b.settle(b.tickets.at(lost));
  b.produce();
  b.reconnect();
  b.deliver(b.send(), 51);
  EXPECT_FALSE(b.look->anchor) << "the old log's is of no use";
  b.log_is_silent();
  EXPECT_EQ(asked.verdict, "never_written");
  b.end();
}

// A sibling: the answer to what was given up contradicts, too late to be told as that.
TEST(OtherLog, ALateSuccessThatContradictsIsNotCalledDelivered) {
  partition_bench b(with_policy(failure_policy::halt_partition));
  b.started().establish(100);
  b.produce();
  batch* late = b.send();
  b.advance(10s);
  EXPECT_EQ(b.told(1).substr(0, 7), "unknown");
  auto& run = b.recover(recovery::resubmit);

  b.deliver(late, 50);

  EXPECT_EQ(b.contradictions, 1);
  EXPECT_TRUE(run.resubmitted.empty());
  EXPECT_EQ(run.command.report.left_out.size(), 1U);
  b.end();
}

}  // namespace
}  // namespace partita::actors
