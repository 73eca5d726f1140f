// Records that end by themselves: cancelled, or at deadlines of their own.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::numbers_in;
using testing::partition_bench;
using numbers = std::vector<int>;

partition_settings of(std::size_t records, failure_policy policy = failure_policy::skip) {
  partition_settings with = partition_bench::quick();
  with.batch_records_max = records;
  with.on_failure = policy;
  return with;
}

/// Records 1, 2, ... that can be cancelled, in one batch or in several.
void produce(partition_bench& b, int count) {
  for (int i = 0; i < count; ++i) b.produce_own();
}

TEST(PartitionCoreCancel, CORE_11_what_was_never_sent_is_taken_out) {
  partition_bench b(of(1, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.pause();
  produce(b, 2);
  b.cancel({1});

  EXPECT_EQ(b.told(1), "not_written cancelled");
  EXPECT_EQ(b.halts, 0) << "a caller's own cancellation does not halt";
  b.resume();
  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{2}));
  EXPECT_EQ(partition_bench::tuple_of(*next), "0.1") << "no number was spent on it";
  b.deliver(next, 1);
  b.end();
}

TEST(PartitionCoreCancel, TIME_04_the_neighbours_of_an_unsent_record_go_on) {
  partition_bench b(of(4));
  b.started();
  b.establish();
  b.pause();
  produce(b, 4);
  b.cancel({2, 4});
  b.resume();

  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{1, 3}));
  b.deliver(next, 1);
  EXPECT_EQ(b.told(1), "delivered@1");
  EXPECT_EQ(b.told(2), "not_written cancelled");
  EXPECT_EQ(b.told(3), "delivered@2");
  EXPECT_EQ(b.told(4), "not_written cancelled");
  b.end();
}

TEST(PartitionCoreCancel, CancellingAllOfABatchLeavesNothingToSend) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.pause();
  produce(b, 4);
  b.cancel({1, 2});
  b.resume();
  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{3, 4}));
  b.deliver(next, 1);
  b.end();
}

TEST(PartitionCoreCancel, TIME_04_a_sent_record_is_unknown_at_once_and_its_batch_goes_on) {
  partition_bench b(of(3, failure_policy::halt_partition));
  b.started();
  b.establish();
  produce(b, 3);
  batch* sent = b.send();
  b.cancel({2});

  EXPECT_EQ(b.told(2), "unknown cancelled");
  EXPECT_EQ(b.told(1), "");
  EXPECT_EQ(sent->first_ticket + 1, 2U) << "its ticket counts its place";
  b.deliver(sent, 1);
  EXPECT_EQ(b.told(1), "delivered@1");
  EXPECT_EQ(b.told(3), "delivered@3") << "offsets count the cancelled one too";
  EXPECT_EQ(b.halts, 0);
  b.end();
}

TEST(PartitionCoreCancel, CORE_01_the_numbers_of_a_cancelled_record_are_never_given_to_another) {
  partition_bench b(of(1, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.produce_own();
  batch* sent = b.send();
  b.answer(sent, 7);
  b.cancel({1});
  EXPECT_EQ(b.told(1), "unknown cancelled (kafka:7)");
  produce(b, 1);
  b.advance(1s);

  batch* again = b.send();
  EXPECT_EQ(numbers_in(*again), (numbers{1})) << "the same bytes and numbers";
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.1");
  b.deliver(again, 1);
  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{2}));
  EXPECT_EQ(partition_bench::tuple_of(*next), "0.2");
  b.deliver(next, 2);
  EXPECT_EQ(b.told(2), "delivered@2");
  b.end();
}

TEST(PartitionCoreCancel, ABatchThatEveryoneCancelledIsGivenUpWithoutAHalt) {
  partition_bench b(of(1, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.produce_own();
  b.lose(b.send());
  b.cancel({1});
  b.advance(10s);
  EXPECT_EQ(b.halts, 0);
  EXPECT_EQ(b.status().epoch_bumps, 1U) << "it was in doubt";

  b.reconnect();
  b.produce(1);
  batch* next = b.send();
  EXPECT_EQ(partition_bench::tuple_of(*next), "1.0");
  b.deliver(next, 1);
  b.end();
}

TEST(PartitionCoreCancel, WhatCameBackUnwrittenIsTakenOutWhenItsBatchIsNumberedAnew) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.pause();
  produce(b, 4);
  b.resume();
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 2U);
  b.cancel({3});
  EXPECT_EQ(b.told(3), "unknown cancelled");
  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  b.advance(1s);

  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{4}));
  b.deliver(next, 1);
  EXPECT_EQ(b.told(4), "delivered@1");
  b.end();
}

TEST(PartitionCoreCancel, ARecordThatWaitsUnwrittenForTheNextEpochIsNotWritten) {
  partition_bench b(of(1));
  b.started();
  b.establish();
  b.pause();
  produce(b, 2);
  b.resume();
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 2U);
  b.pause();
  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  b.cancel({2});

  EXPECT_EQ(b.told(2), "not_written cancelled (kafka:45)") << "all attempts are proven unwritten";
  b.end();
}

TEST(PartitionCoreCancel, TIME_25_cancelling_again_or_after_the_answer_finds_nothing) {
  partition_bench b(of(1));
  b.started();
  b.establish();
  produce(b, 2);
  batch* sent = b.send();
  b.cancel({1});
  b.cancel({1});
  EXPECT_EQ(b.not_cancelled, 1U);
  b.deliver(sent, 1);
  b.cancel({1});
  EXPECT_EQ(b.not_cancelled, 1U);
  EXPECT_EQ(b.told(1), "unknown cancelled");
  b.deliver(b.send(), 2);
  b.cancel({2});
  EXPECT_EQ(b.told(2), "delivered@2");
  b.end();
}

TEST(PartitionCoreCancel, AnAnswerThatWasReadWins) {
  partition_bench b(of(1));
  b.started();
  b.establish();
  produce(b, 1);
  batch* sent = b.send();
  sent->returning = true;  // as its connection does with the answer
  b.cancel({1});
  EXPECT_EQ(b.told(1), "");
  sent->returning = false;
  b.deliver(sent, 1);
  EXPECT_EQ(b.told(1), "delivered@1");
  b.end();
}

TEST(PartitionCoreCancel, AFlushCountsACancelledRecordOnce) {
  partition_bench b(of(3));
  b.started();
  b.establish();
  produce(b, 3);
  batch* sent = b.send();
  auto& flush = b.flush();
  b.cancel({2});
  b.deliver(sent, 1);
  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, (tally{2, 0, 1}));

  b.pause();
  produce(b, 2);
  auto& unsent = b.flush();
  produce(b, 1);
  b.cancel({4, 6});
  b.resume();
  b.deliver(b.send(), 4);
  EXPECT_TRUE(unsent.done);
  EXPECT_EQ(unsent.barrier.answered, (tally{1, 1, 0})) << "not the one that came later";
  b.end();
}

TEST(PartitionCoreCancel, HeldRecordsAreCancelledAndCancelledOnesAreNotRecovered) {
  partition_bench b(of(2, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.pause();
  produce(b, 4);
  b.resume();
  batch* sent = b.send();
  b.cancel({1});
  EXPECT_EQ(b.told(1), "unknown cancelled");
  b.answer(sent, 29);
  EXPECT_EQ(b.told(2), "not_written kafka:29");
  b.cancel({3});
  EXPECT_EQ(b.told(3), "not_written cancelled");

  auto& run = b.recover(recovery::take);
  ASSERT_EQ(run.command.report.taken.size(), 2U);
  EXPECT_EQ(run.command.report.taken[0].record.value, "2");
  EXPECT_EQ(run.command.report.taken[1].record.value, "4");
  b.end();
}

// Deadlines of their own

TEST(PartitionCoreDeadlines, DUP_02_a_doubtful_batch_is_not_cut_when_some_of_it_expires) {
  partition_bench b(of(4));
  b.started();
  b.establish();
  b.pause();
  for (const auto timeout : {2s, 2s, 10s, 10s}) b.produce_own(timeout);
  b.resume();
  batch* sent = b.send();
  ASSERT_EQ(sent->count(), 4U);
  b.lose(sent);
  b.reconnect();
  b.leader(0);
  b.advance(2s);

  EXPECT_EQ(b.told(1), "unknown delivery_timeout (answer_lost)");
  EXPECT_EQ(b.told(2), "unknown delivery_timeout (answer_lost)");
  EXPECT_EQ(b.told(3), "");
  b.advance(1s);
  b.leader(1);
  batch* again = b.send();
  EXPECT_EQ(numbers_in(*again), (numbers{1, 2, 3, 4}));
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.1");
  b.deliver(again, 1);
  EXPECT_EQ(b.told(3), "delivered@3");
  EXPECT_EQ(b.told(4), "delivered@4");
  b.end();
}

TEST(PartitionCoreDeadlines, TIME_27_a_queued_record_expires_between_two_that_do_not) {
  partition_bench b(of(3));
  b.started();
  b.establish();
  b.pause();
  b.produce(1);
  b.produce_own(1s);
  b.produce(1);
  b.advance(1s);
  EXPECT_EQ(b.told(2), "not_written delivery_timeout");
  b.resume();

  batch* before = b.send();
  batch* behind = b.send();
  EXPECT_EQ(numbers_in(*before), (numbers{1}));
  EXPECT_EQ(numbers_in(*behind), (numbers{3}));
  EXPECT_EQ(partition_bench::tuple_of(*before), "0.1");
  EXPECT_EQ(partition_bench::tuple_of(*behind), "0.2") << "no gap in the sequences";
  b.deliver(before, 1);
  b.deliver(behind, 2);
  b.end();
}

TEST(PartitionCoreDeadlines, ALongerDeadlineOutlivesThePartitions) {
  partition_bench b(of(1));
  b.started();
  b.establish();
  b.pause();
  b.produce_own(60s);
  b.produce(1);
  b.advance(10s);
  EXPECT_EQ(b.told(2), "not_written delivery_timeout") << "although it lies behind";
  EXPECT_EQ(b.told(1), "");
  b.advance(49s);
  EXPECT_EQ(b.told(1), "");
  b.resume();
  b.deliver(b.send(), 1);
  EXPECT_EQ(b.told(1), "delivered@1");
  b.end();
}

TEST(PartitionCoreDeadlines, ARecordBehindOneWithALongerDeadlineEndsInTimeWhateverThatOneDoes) {
  partition_bench b(of(1));
  b.started();
  b.establish();
  b.produce_own(60s);
  b.produce(2);
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 3U);
  b.deliver(sent[1], 2);
  b.advance(10s);

  EXPECT_EQ(b.told(2), "delivered@2") << "its answer waited for the older one's only";
  EXPECT_EQ(b.told(3), "unknown delivery_timeout");
  EXPECT_EQ(b.told(1), "");
  b.deliver(sent[0], 1);
  b.deliver(sent[2], 3);
  EXPECT_EQ(b.told(1), "delivered@1");
  b.end();
}

TEST(PartitionCoreDeadlines, ASingleRecordIsGivenUpAtItsOwnDeadline) {
  partition_bench b(of(1, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.produce_own(2s);
  b.answer(b.send(), 19);
  b.advance(2s);
  EXPECT_EQ(b.told(1), "not_written delivery_timeout (kafka:19)");
  EXPECT_EQ(b.halts, 1) << "giving up does halt";
  b.end();
}

// It waited for its topic, and the callback of another one produced what lies before it.
TEST(PartitionCoreDeadlines, AMuchOlderRecordIsNotKeptForTheSakeOfANewerOne) {
  partition_bench b(partition_bench::quick());
  b.pause();
  const instant admitted = b.now;
  b.advance(5s);
  b.produce();
  b.produce_at(admitted);
  b.advance(5s);

  EXPECT_EQ(b.told(1), "not_written delivery_timeout");
  EXPECT_EQ(b.told(0), "");
  b.end();
}

TEST(PartitionCoreDeadlines, AHaltBetweenRecordsOfABatchHoldsOnlyTheLaterOnes) {
  partition_bench b(of(3, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.pause();
  b.produce(1);
  b.produce_own(1s);
  b.produce(1);
  b.advance(1s);
  b.resume();
  batch* before = b.send();
  EXPECT_EQ(numbers_in(*before), (numbers{1}));
  b.deliver(before, 1);
  EXPECT_EQ(b.send(), nullptr);
  b.end();
}

TEST(PartitionCoreDeadlines, OnceAllAreAnsweredThePartitionIsAsBefore) {
  partition_bench b(of(1));
  b.started();
  b.establish();
  b.produce_own(60s);
  b.deliver(b.send(), 1);
  EXPECT_EQ(b.timer, std::nullopt);
  b.produce(2);
  const auto sent = b.send_all();
  b.advance(10s);
  EXPECT_EQ(b.told(2), "unknown delivery_timeout");
  EXPECT_EQ(b.told(3), "unknown delivery_timeout");
  for (batch* each : sent) b.lose(each);
  b.end();
}

}  // namespace
}  // namespace partita::actors
