#include "actors/tuple_ledger.hpp"

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <vector>

namespace partita::actors {
namespace {

using answer = ledger_answer;

batch_tuple tuple(std::int16_t epoch, std::int32_t base, std::int32_t count,
                  std::uint32_t checksum = 1, std::int64_t id = 42) {
  return {.stamp = {id, epoch, base}, .count = count, .crc32c = checksum};
}

void send(tuple_ledger& ledger, const batch_tuple& batch) {
  ASSERT_EQ(ledger.check_before_write(batch), answer::ok)
      << "epoch " << batch.stamp.epoch.value << ", sequence " << batch.stamp.base.value;
  ledger.record_sent(batch);
}

TEST(TupleLedger, AllowsTheIdenticalBytesAgain) {
  tuple_ledger ledger;
  for (int attempt = 0; attempt < 100; ++attempt) send(ledger, tuple(0, 0, 5));
  EXPECT_EQ(ledger.size(), 1u);
  EXPECT_EQ(ledger.outstanding(), 1u);
}

// The founding fault (franz-go #1217): the first record was appended and answered
// REQUEST_TIMED_OUT, it is cancelled, and the next record gets its sequence.
TEST(TupleLedger, RefusesOtherBytesUnderATupleThatWasSent) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1, 0xaaaa));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 0xbbbb)), answer::contradiction);
  ledger.abandoned(tuple(0, 0, 1, 0xaaaa));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 0xbbbb)), answer::contradiction);
  // The way out is a new epoch.
  EXPECT_EQ(ledger.check_before_write(tuple(1, 0, 1, 0xbbbb)), answer::ok);
}

TEST(TupleLedger, RefusesReuseOfATupleThatWasAcknowledged) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1, 0xaaaa));
  ASSERT_EQ(ledger.settled(tuple(0, 0, 1, 0xaaaa), 10), answer::ok);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 0xbbbb)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 0xaaaa)), answer::contradiction);
}

// What comes next in the numbering is allowed without a look at the others, unless it has come back
// to their numbers.
TEST(TupleLedger, RefusesWhatComesNextWhenTheNumbersHaveGoneAllTheWayRound) {
  constexpr std::int32_t half = std::int32_t{1} << 30;
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, half, 0xaaaa));
  send(ledger, tuple(0, half, half - 1, 0xbbbb));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 2 * half - 1, 1, 0xcccc)), answer::ok);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 2 * half - 1, 2, 0xcccc)), answer::contradiction);
  ledger.release_unwritten(tuple(0, half, half - 1, 0xbbbb));
  EXPECT_EQ(ledger.check_before_write(tuple(0, half, half, 0xdddd)), answer::ok);
}

TEST(TupleLedger, RefusesRegroupedBatches) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 10));
  for (const auto& regrouped : {tuple(0, 0, 11), tuple(0, 0, 9), tuple(0, 5, 5), tuple(0, 9, 1),
                                tuple(0, 9, 10), tuple(0, 3, 2)})
    EXPECT_EQ(ledger.check_before_write(regrouped), answer::contradiction)
        << regrouped.stamp.base.value << " " << regrouped.count;
}

TEST(TupleLedger, RefusesToStartBeforeOrBehindTheNextSequence) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 100, 10));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 111, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 10)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 110, 1)), answer::ok);
}

TEST(TupleLedger, DemandsSequenceZeroOfANewEpochAndOfANewId) {
  tuple_ledger ledger;
  send(ledger, tuple(3, 0, 10));
  EXPECT_EQ(ledger.check_before_write(tuple(4, 10, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(4, 0, 1)), answer::ok);
  EXPECT_EQ(ledger.check_before_write(tuple(9, 0, 1)), answer::ok);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 10, 1, 1, 43)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 1, 43)), answer::ok);
}

TEST(TupleLedger, RefusesNewBytesUnderAnOlderEpochOrAnOldId) {
  tuple_ledger ledger;
  send(ledger, tuple(3, 0, 10));
  ledger.abandoned(tuple(3, 0, 10));
  send(ledger, tuple(4, 0, 1));
  EXPECT_EQ(ledger.check_before_write(tuple(3, 10, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(2, 0, 1)), answer::contradiction);
  send(ledger, tuple(0, 0, 1, 1, 43));
  EXPECT_EQ(ledger.check_before_write(tuple(4, 1, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(4, 0, 2)), answer::contradiction);
  // What was given up in doubt may still be retried as it was.
  EXPECT_EQ(ledger.check_before_write(tuple(3, 0, 10)), answer::ok);
}

TEST(TupleLedger, GivesAReleasedTupleAway) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 5, 0xaaaa));
  send(ledger, tuple(0, 5, 5, 0xbbbb));
  ledger.release_unwritten(tuple(0, 5, 5, 0xbbbb));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 5, 7, 0xcccc)), answer::ok);
  ledger.release_unwritten(tuple(0, 0, 5, 0xaaaa));
  EXPECT_EQ(ledger.size(), 0u);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 3, 0xcccc)), answer::ok);
}

TEST(TupleLedger, ReleasesOnlyWhatIsOutstanding) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1, 0xaaaa));
  ledger.release_unwritten(tuple(0, 0, 1, 0xbbbb));
  ledger.abandoned(tuple(0, 0, 1, 0xbbbb));
  EXPECT_EQ(ledger.outstanding(), 1u);
  ledger.abandoned(tuple(0, 0, 1, 0xaaaa));
  ledger.release_unwritten(tuple(0, 0, 1, 0xaaaa));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 0xbbbb)), answer::contradiction);
  ASSERT_EQ(ledger.settled(tuple(0, 0, 1, 0xaaaa), 5), answer::ok);
  ledger.abandoned(tuple(0, 0, 1, 0xaaaa));
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1, 0xaaaa), 5), answer::contradiction);
}

TEST(TupleLedger, DoesNotTakeAnEpochUpAgainBehindAnotherId) {
  tuple_ledger ledger;
  send(ledger, tuple(4, 100, 1));
  ledger.abandoned(tuple(4, 100, 1));
  send(ledger, tuple(0, 0, 1, 1, 43));
  EXPECT_EQ(ledger.check_before_write(tuple(4, 0, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(5, 0, 1)), answer::ok);
}

TEST(TupleLedger, NeverForgetsAnOutstandingBatch) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1, 0xaaaa));
  for (std::int32_t at = 1; at < 30; ++at) {
    send(ledger, tuple(0, at, 1));
    ASSERT_EQ(ledger.settled(tuple(0, at, 1), 100 + at), answer::ok);
  }
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1, 0xbbbb)), answer::contradiction);
  // It was sent first, so it may lie before all of them, those that were forgotten included.
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1, 0xaaaa), 100), answer::ok);
}

TEST(TupleLedger, ComparesNoOffsetsOfTwoIncarnations) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1));
  ledger.new_incarnation();
  send(ledger, tuple(0, 1, 1));
  ASSERT_EQ(ledger.settled(tuple(0, 1, 1), 0), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1), 1001), answer::ok);  // an answer about the old log
}

TEST(TupleLedger, RecordsNothingThatItWouldRefuse) {
  testing::contract_guard guard;
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1, 0xaaaa));
  EXPECT_THROW(ledger.record_sent(tuple(0, 0, 1, 0xbbbb)), testing::broken_contract);
}

TEST(TupleLedger, FollowsTheSequenceOverTheWrap) {
  constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  tuple_ledger ledger;
  send(ledger, tuple(0, largest - 2, 5));  // the last is sequence 1
  EXPECT_EQ(ledger.check_before_write(tuple(0, 0, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 1, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, largest, 1)), answer::contradiction);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 3, 1)), answer::contradiction);
  send(ledger, tuple(0, 2, 1));
}

TEST(TupleLedger, AcceptsOffsetsInTheOrderOfSendingHoweverTheyAreAnswered) {
  tuple_ledger ledger;
  for (std::int32_t at = 0; at < 5; ++at) send(ledger, tuple(0, at * 10, 10));
  EXPECT_EQ(ledger.settled(tuple(0, 20, 10), 120), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 10), 100), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 40, 10), 1000), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 10, 10), 110), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 30, 10), 130), answer::ok);
  EXPECT_EQ(ledger.outstanding(), 0u);
}

TEST(TupleLedger, NoticesOffsetsAgainstTheOrderOfSending) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 10));
  send(ledger, tuple(0, 10, 10));
  send(ledger, tuple(0, 20, 10));
  ASSERT_EQ(ledger.settled(tuple(0, 10, 10), 100), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 10), 91), answer::contradiction);   // overlaps by one
  EXPECT_EQ(ledger.settled(tuple(0, 0, 10), 110), answer::contradiction);  // behind a younger one
  EXPECT_EQ(ledger.settled(tuple(0, 20, 10), 109), answer::contradiction);
  EXPECT_EQ(ledger.settled(tuple(0, 20, 10), 90), answer::contradiction);
  // What contradicted was not noted down.
  EXPECT_EQ(ledger.settled(tuple(0, 0, 10), 90), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 20, 10), 110), answer::ok);
}

TEST(TupleLedger, LearnsNothingFromAnUnknownOffset) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1));
  send(ledger, tuple(0, 1, 1));
  send(ledger, tuple(0, 2, 1));
  EXPECT_EQ(ledger.settled(tuple(0, 1, 1), -1), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1), 7), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 2, 1), 8), answer::ok);
}

TEST(TupleLedger, SettlesABatchOnce) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1));
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1), 7), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1), 7), answer::contradiction);
}

TEST(TupleLedger, SettlesNoBatchThatItDoesNotKnow) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1, 0xaaaa));
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1, 0xbbbb), 7), answer::not_remembered);
  EXPECT_EQ(ledger.settled(tuple(1, 0, 1, 0xaaaa), 7), answer::not_remembered);
}

TEST(TupleLedger, SettlesAnAbandonedBatchLateAndInOrder) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1));
  ledger.abandoned(tuple(0, 0, 1));
  send(ledger, tuple(1, 0, 1));
  ASSERT_EQ(ledger.settled(tuple(1, 0, 1), 50), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1), 51), answer::contradiction);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 1), 49), answer::ok);
}

TEST(TupleLedger, RefusesAnOffsetWhoseEndOverflows) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 10));
  constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ledger.settled(tuple(0, 0, 10), biggest), answer::contradiction);
  EXPECT_EQ(ledger.settled(tuple(0, 0, 10), biggest - 10), answer::ok);
}

TEST(TupleLedger, StartsAgainWithTheOffsetsOfARecreatedTopic) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1));
  ASSERT_EQ(ledger.settled(tuple(0, 0, 1), 1000), answer::ok);
  send(ledger, tuple(0, 1, 1));
  ledger.new_incarnation();
  send(ledger, tuple(0, 1, 1));  // retried into the new topic
  EXPECT_EQ(ledger.settled(tuple(0, 1, 1), 0), answer::ok);
  send(ledger, tuple(0, 2, 1));
  EXPECT_EQ(ledger.settled(tuple(0, 2, 1), 0), answer::contradiction);
  EXPECT_EQ(ledger.settled(tuple(0, 2, 1), 1), answer::ok);
}

TEST(TupleLedger, BeginsAnewBehindWhatContradicted) {
  tuple_ledger ledger;
  send(ledger, tuple(0, 0, 1));
  send(ledger, tuple(0, 1, 2));
  send(ledger, tuple(0, 3, 1));
  ASSERT_EQ(ledger.settled(tuple(0, 0, 1), 100), answer::ok);
  EXPECT_FALSE(ledger.another_log_suspected());
  ASSERT_EQ(ledger.settled(tuple(0, 1, 2), 50), answer::contradiction);
  EXPECT_TRUE(ledger.another_log_suspected());
  ledger.abandoned(tuple(0, 1, 2));
  ledger.abandoned(tuple(0, 3, 1));

  ledger.begin_anew();

  EXPECT_FALSE(ledger.another_log_suspected());
  EXPECT_EQ(ledger.check_before_write(tuple(0, 1, 2, 2)), answer::contradiction);
  send(ledger, tuple(1, 0, 1));
  send(ledger, tuple(1, 1, 1));
  EXPECT_EQ(ledger.settled(tuple(1, 0, 1), 51), answer::contradiction) << "it lies at 50 and 51";
  EXPECT_EQ(ledger.settled(tuple(1, 0, 1), 52), answer::ok);
  EXPECT_EQ(ledger.settled(tuple(1, 1, 1), 52), answer::contradiction);
  EXPECT_EQ(ledger.settled(tuple(1, 1, 1), 53), answer::ok);
}

TEST(TupleLedger, RefusesMoreBatchesThanAPartitionMayHaveOutstanding) {
  tuple_ledger ledger;
  for (std::int32_t at = 0; at < 7; ++at) send(ledger, tuple(0, at, 1));
  EXPECT_EQ(ledger.check_before_write(tuple(0, 7, 1)), answer::full);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 3, 1)), answer::ok);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 3, 1, 9)), answer::contradiction);
  ASSERT_EQ(ledger.settled(tuple(0, 0, 1), 0), answer::ok);
  EXPECT_EQ(ledger.check_before_write(tuple(0, 7, 1)), answer::ok);
}

TEST(TupleLedger, RemembersTheLastAcknowledgedOffsetOfForgottenBatches) {
  tuple_ledger ledger;
  for (std::int32_t at = 0; at < 100; ++at) {
    send(ledger, tuple(0, at, 1));
    ASSERT_EQ(ledger.settled(tuple(0, at, 1), at < 80 ? at : -1), answer::ok);
  }
  // The newest known offset is 79, and that batch has left the ledger.
  send(ledger, tuple(0, 100, 1));
  EXPECT_EQ(ledger.settled(tuple(0, 100, 1), 79), answer::contradiction);
  EXPECT_EQ(ledger.settled(tuple(0, 100, 1), 80), answer::ok);
}

/// A partition that keeps the laws, driven by chance, next to a full history of what it sent.
class lawful_partition {
 public:
  explicit lawful_partition(std::uint32_t seed) : random_(seed) {
    // Near the wrap in half of the histories.
    if (seed % 2 == 0) stamp_ = producer_stamp{42, 0, 2147483600};
  }

  void step() {
    switch (chance(8)) {
      case 0:
      case 1:
      case 2:
        send_new();
        break;
      case 3:
        retry();
        break;
      case 4:
      case 5:
      case 6:
        acknowledge();
        break;
      default:
        chance(4) == 0 ? give_up_head() : release_all();
    }
  }

  /// The last `count` of the batches that may have been written, newest first.
  std::vector<batch_tuple> newest_written(std::size_t count) const {
    std::vector<batch_tuple> newest(
        written_.rbegin(),
        written_.rbegin() + static_cast<std::ptrdiff_t>(std::min(count, written_.size())));
    return newest;
  }
  const tuple_ledger& ledger() const { return ledger_; }

 private:
  std::uint32_t chance(std::uint32_t below) {
    return static_cast<std::uint32_t>(random_() % below);
  }

  void send_new() {
    if (in_flight_.size() == 5) return;
    const auto count = static_cast<std::int32_t>(1 + chance(20));
    const batch_tuple batch{stamp_.take(count), count, static_cast<std::uint32_t>(random_())};
    in_flight_.push_back(batch);
    written_.push_back(batch);
    send(ledger_, batch);
  }

  void retry() {
    if (!in_flight_.empty())
      send(ledger_, in_flight_[chance(static_cast<std::uint32_t>(in_flight_.size()))]);
  }

  void acknowledge() {
    if (in_flight_.empty()) return;
    const batch_tuple head = in_flight_.front();
    in_flight_.pop_front();
    log_end_ += chance(3);
    ASSERT_EQ(ledger_.settled(head, chance(10) == 0 ? partita::offset{} : log_end_), answer::ok);
    log_end_ += head.count;
  }

  void give_up_head() {
    if (in_flight_.empty()) return;
    for (const batch_tuple& each : in_flight_) ledger_.abandoned(each);
    in_flight_.clear();
    stamp_ = stamp_.bumped();
  }

  void release_all() {
    if (in_flight_.empty()) return;
    for (const batch_tuple& each : in_flight_) {
      ledger_.release_unwritten(each);
      written_.erase(std::find(written_.begin(), written_.end(), each));
    }
    in_flight_.clear();
    stamp_ = stamp_.bumped();
  }

  std::mt19937 random_;
  tuple_ledger ledger_;
  producer_stamp stamp_{42};
  std::deque<batch_tuple> in_flight_;
  std::vector<batch_tuple> written_;
  std::int64_t log_end_ = 0;
};

TEST(TupleLedger, NeverStopsALawfulPartitionAndCatchesEveryPlantedReuse) {
  int planted = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    lawful_partition partition(seed);
    for (int step = 0; step < 200; ++step) {
      partition.step();
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
      ASSERT_LE(partition.ledger().size(), 12u);
      for (batch_tuple reused : partition.newest_written(5)) {
        reused.crc32c ^= 1;
        ASSERT_EQ(partition.ledger().check_before_write(reused), answer::contradiction)
            << "seed " << seed << ", step " << step;
        ++planted;
      }
    }
  }
  EXPECT_GT(planted, 100000);
}

}  // namespace
}  // namespace partita::actors
