// Batches that are refused in part: too large, or with records at fault.
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

/// As a broker with this max.message.bytes answers, until nothing is left to send. Returns the
/// number of attempts.
int serve(partition_bench& b, std::size_t limit, std::int64_t& offset) {
  int attempts = 0;
  while (batch* next = b.send()) {
    ++attempts;
    if (next->size() > limit) {
      b.answer(next, 10);
    } else {
      const auto count = static_cast<std::int64_t>(next->count());
      b.deliver(next, offset);
      offset += count;
    }
  }
  return attempts;
}

TEST(PartitionCoreSplit, SIZE_01_only_the_record_that_does_not_fit_fails) {
  for (int large : {0, 4, 9}) {
    partition_bench b(of(10));
    b.started();
    b.establish();
    b.pause();
    for (int i = 0; i < 10; ++i) b.produce_large(i == large ? 20'000 : 1000);
    b.resume();
    std::int64_t offset = 1;

    EXPECT_LE(serve(b, 10'000, offset), 8) << "2 log2(10) + 2";

    std::int64_t expected = 1;
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(b.told(1 + i),
                i == large ? "not_written kafka:10" : "delivered@" + std::to_string(expected++));
    b.end();
  }
}

TEST(PartitionCoreSplit, TheFailureOfARecordThatDoesNotFitSaysItsSize) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.produce_large(20'000);
  batch* sent = b.send();
  const std::string size = std::to_string(sent->size()) + " bytes";
  b.answer(sent, 10);

  EXPECT_EQ(b.told(1), "not_written kafka:10");
  EXPECT_NE(b.last_detail.find(size), std::string::npos) << b.last_detail;
  EXPECT_NE(b.last_detail.find("was taken"), std::string::npos) << b.last_detail;
  EXPECT_EQ(b.send(), nullptr) << "it is not sent again";
}

TEST(PartitionCoreSplit, SIZE_03_a_single_record_is_sent_once_and_halts_or_is_skipped) {
  for (const auto policy : {failure_policy::halt_partition, failure_policy::skip}) {
    partition_bench b(of(1, policy));
    b.started();
    b.establish();
    b.produce(2);
    b.answer(b.send(), 18);
    EXPECT_EQ(b.told(1), "not_written kafka:18");
    b.advance(1s);
    batch* next = b.send();
    if (policy == failure_policy::skip) {
      EXPECT_EQ(numbers_in(*next), (numbers{2}));
      b.deliver(next, 1);
    } else {
      EXPECT_EQ(next, nullptr);
      EXPECT_EQ(b.halts, 1);
    }
    b.end();
  }
}

TEST(PartitionCoreSplit, SIZE_02_halving_ends_and_is_remembered) {
  partition_bench b(of(1024));
  b.started();
  b.establish();
  b.pause();
  for (int i = 0; i < 1000; ++i) b.produce_large(1000);
  b.resume();
  std::int64_t offset = 1;

  const int attempts = serve(b, 2000, offset);

  EXPECT_EQ(offset, 1001);
  EXPECT_LE(attempts, 1000 + 12) << "not each half of each half is refused again";
  EXPECT_EQ(b.told(1), "delivered@1");
  EXPECT_EQ(b.told(1000), "delivered@1000") << "in order";
  b.pause();
  for (int i = 0; i < 10; ++i) b.produce_large(1000);
  b.resume();
  EXPECT_EQ(serve(b, 2000, offset), 10) << "the next batches fit at once";
  b.end();
}

TEST(PartitionCoreSplit, HalvesGoOutUnderANewerEpochWithContiguousSequences) {
  partition_bench b(of(4));
  b.started();
  b.establish();
  b.produce(4);
  batch* whole = b.send();
  const std::string old_tuple = partition_bench::tuple_of(*whole);
  b.answer(whole, 10);

  batch* first = b.send();
  EXPECT_EQ(numbers_in(*first), (numbers{1, 2}));
  EXPECT_EQ(partition_bench::tuple_of(*first), "1.0");
  EXPECT_EQ(old_tuple, "0.1");
  b.deliver(first, 1);
  batch* second = b.send();
  EXPECT_EQ(numbers_in(*second), (numbers{3, 4}));
  EXPECT_EQ(partition_bench::tuple_of(*second), "1.2");
  b.deliver(second, 3);
  EXPECT_EQ(b.status().epoch_bumps, 1U);
  b.end();
}

TEST(PartitionCoreSplit, ABatchInDoubtIsNeverSplit) {
  partition_bench b(of(4));
  b.started();
  b.establish();
  b.produce(4);
  batch* whole = b.send();
  const std::string tuple = partition_bench::tuple_of(*whole);
  b.answer(whole, 7);
  b.advance(1s);
  b.answer(b.send(), 10);
  b.advance(2s);

  batch* again = b.send();

  ASSERT_NE(again, nullptr);
  EXPECT_EQ(numbers_in(*again), (numbers{1, 2, 3, 4}));
  EXPECT_EQ(partition_bench::tuple_of(*again), tuple);
  b.deliver(again, 1);
  b.end();
}

TEST(PartitionCoreSplit, BatchesBehindATooLargeOneKeepTheirPlace) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.pause();
  b.produce(6);
  b.resume();
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 3U);
  b.answer(sent[0], 10);
  EXPECT_EQ(b.send(), nullptr) << "two attempts of the old epoch are under way";
  b.answer(sent[1], 45);
  b.answer(sent[2], 45);

  std::vector<numbers> order;
  std::int64_t offset = 1;
  while (offset < 7) {
    b.advance(1s);
    batch* next = b.send();
    ASSERT_NE(next, nullptr);
    order.push_back(numbers_in(*next));
    const auto count = static_cast<std::int64_t>(next->count());
    b.deliver(next, offset);
    offset += count;
  }

  EXPECT_EQ(order, (std::vector<numbers>{{1}, {2}, {3}, {4}, {5}, {6}}))
      << "all were as large as the refused one";
  b.end();
}

TEST(PartitionCoreSplit, WithoutIdempotenceItIsSplitAtOnce) {
  partition_settings with = of(2);
  with.idempotent = false;
  with.required_acks = acks::leader;
  partition_bench b(with);
  b.leader(1);
  b.produce(2);
  b.answer(b.send(), 18);
  std::int64_t offset = 0;

  EXPECT_EQ(serve(b, 1000, offset), 2);

  EXPECT_EQ(b.told(0), "delivered@0");
  EXPECT_EQ(b.told(1), "delivered@1");
  b.end();
}

TEST(PartitionCoreSplit, TIME_18_a_flush_waits_for_both_halves) {
  partition_bench b(of(8));
  b.started();
  b.establish();
  b.produce(8);
  batch* whole = b.send();
  auto& flush = b.flush();
  b.answer(whole, 10);
  b.deliver(b.send(), 1);
  EXPECT_FALSE(flush.done);
  b.deliver(b.send(), 5);
  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered.delivered, 8U);
  b.end();
}

TEST(PartitionCoreSplit, TheDeadlineOfAHalfEndsItUnwritten) {
  partition_bench b(of(4));
  b.started();
  b.establish();
  b.produce(4);
  b.answer(b.send(), 10);
  b.advance(11s);

  for (int i = 1; i <= 4; ++i) EXPECT_EQ(b.told(i).substr(0, 11), "not_written") << b.told(i);
  b.end();
}

// Records at fault

/// The batch is refused because of some of its records.
void blame(partition_bench& b, batch* sent, std::vector<record_fault> faults, int code = 87) {
  sent->faults = std::move(faults);
  sent->broker_text = "one or more records have been rejected";
  b.answer(sent, code);
}

TEST(PartitionCoreSplit, SIZE_05_only_the_record_at_fault_fails) {
  partition_bench b(of(3));
  b.started();
  b.establish();
  b.produce(3);
  blame(b, b.send(), {{1, "a record without a key"}});

  EXPECT_EQ(b.told(2), "not_written kafka:87");
  EXPECT_EQ(b.last_detail, "a record without a key");
  batch* rest = b.send();
  EXPECT_EQ(numbers_in(*rest), (numbers{1, 3}));
  EXPECT_EQ(partition_bench::tuple_of(*rest), "1.0");
  b.deliver(rest, 1);
  EXPECT_EQ(b.told(1), "delivered@1");
  EXPECT_EQ(b.told(3), "delivered@2");
  b.end();
}

TEST(PartitionCoreSplit, SIZE_05_a_halt_holds_what_lies_behind_the_record_at_fault) {
  partition_bench b(of(4, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.produce(4);
  blame(b, b.send(), {{1, "no key"}});

  batch* before = b.send();
  EXPECT_EQ(numbers_in(*before), (numbers{1})) << "produced before it";
  b.deliver(before, 1);
  EXPECT_EQ(b.send(), nullptr);
  auto& run = b.recover(recovery::take);
  ASSERT_EQ(run.command.report.taken.size(), 3U);
  EXPECT_EQ(run.command.report.taken[0].record.value, "2");
  EXPECT_EQ(run.command.report.taken[2].record.value, "4");
  EXPECT_EQ(b.told(3), "not_written handed_back");
  b.end();
}

TEST(PartitionCoreSplit, RecordsAtFaultAreResubmittedInTheirPlaces) {
  partition_bench b(of(5, failure_policy::halt_partition));
  b.started();
  b.establish();
  b.produce(5);
  blame(b, b.send(), {{1, "x"}, {3, "y"}});
  b.deliver(b.send(), 1);
  b.recover(recovery::resubmit);

  std::vector<int> order;
  std::int64_t offset = 2;
  while (batch* next = b.send()) {
    for (const int number : numbers_in(*next)) order.push_back(number);
    const auto count = static_cast<std::int64_t>(next->count());
    b.deliver(next, offset);
    offset += count;
  }
  EXPECT_EQ(order, (numbers{2, 3, 4, 5}));
  b.end();
}

TEST(PartitionCoreSplit, EachRecordAtFaultIsToldItsOwnReason) {
  partition_bench b(of(5));
  b.started();
  b.establish();
  b.produce(5);
  blame(b, b.send(), {{0, "first"}, {2, ""}, {4, "last"}}, 32);

  EXPECT_EQ(b.details,
            (std::vector<std::string>{"first", "one or more records have been rejected", "last"}));
  batch* rest = b.send();
  EXPECT_EQ(numbers_in(*rest), (numbers{2, 4}));
  b.deliver(rest, 1);
  b.end();
}

TEST(PartitionCoreSplit, WhenAllAreAtFaultTheBatchFailsAsAWhole) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.produce(2);
  blame(b, b.send(), {{0, "x"}, {1, "y"}});
  EXPECT_EQ(b.told(1), "not_written kafka:87");
  EXPECT_EQ(b.told(2), "not_written kafka:87");
  EXPECT_EQ(b.send(), nullptr);
  b.end();
}

TEST(PartitionCoreSplit, ABatchInDoubtIsNotCutAroundItsFaults) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.produce(2);
  b.lose(b.send());
  b.reconnect();
  b.advance(1s);
  blame(b, b.send(), {{0, "x"}});
  b.advance(2s);

  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(numbers_in(*again), (numbers{1, 2}));
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.1");
  b.deliver(again, 1);
  b.end();
}

TEST(PartitionCoreSplit, AYoungerBatchWithFaultsWaitsForTheOlderOne) {
  partition_bench b(of(2));
  b.started();
  b.establish();
  b.pause();
  b.produce(4);
  b.resume();
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 2U);
  blame(b, sent[1], {{1, "x"}});
  EXPECT_EQ(b.told(4), "") << "answers come in the order of the records";
  b.deliver(sent[0], 1);

  EXPECT_EQ(b.told(4), "not_written kafka:87");
  batch* rest = b.send();
  EXPECT_EQ(numbers_in(*rest), (numbers{3}));
  b.deliver(rest, 3);
  b.end();
}

}  // namespace
}  // namespace partita::actors
