#include "actors/producer_stamp.hpp"

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace partita::actors {
namespace {

constexpr std::int32_t largest = 2147483647;
constexpr std::int64_t modulus = 2147483648;

TEST(ProducerStamp, CountsRecordsAndNotBatches) {
  producer_stamp stamp{4242};
  EXPECT_EQ(stamp.take(17), (batch_stamp{4242, 0, 0}));
  EXPECT_EQ(stamp.take(1), (batch_stamp{4242, 0, 17}));
  EXPECT_EQ(stamp.take(5), (batch_stamp{4242, 0, 18}));
  EXPECT_EQ(stamp.next(), sequence{23});
}

TEST(ProducerStamp, StartsTheNextEpochAtSequenceZero) {
  producer_stamp stamp{7, 3};
  (void)stamp.take(100);
  const producer_stamp bumped = stamp.bumped();
  EXPECT_EQ(bumped.id(), producer_id{7});
  EXPECT_EQ(bumped.epoch(), producer_epoch{4});
  EXPECT_EQ(bumped.next(), sequence{0});
}

TEST(ProducerStamp, IsExhaustedAtTheLargestEpochOnly) {
  EXPECT_FALSE(producer_stamp(7, 32766).exhausted());
  producer_stamp last = producer_stamp(7, 32766).bumped();
  EXPECT_TRUE(last.exhausted());
  // The last epoch itself is good for data.
  EXPECT_EQ(last.take(1), (batch_stamp{7, 32767, 0}));
}

TEST(ProducerStamp, RefusesToBumpPastTheLargestEpoch) {
  testing::contract_guard guard;
  EXPECT_THROW((void)producer_stamp(7, 32767).bumped(), testing::broken_contract);
}

TEST(ProducerStamp, StampsNothingWithoutIdempotence) {
  producer_stamp none = producer_stamp::none();
  const batch_stamp stamp = none.take(10);
  EXPECT_EQ(stamp.id.value, -1);
  EXPECT_EQ(stamp.epoch.value, -1);
  EXPECT_EQ(stamp.base.value, -1);
  EXPECT_EQ(last_sequence(stamp, 10).value, -1);
  EXPECT_EQ(none, producer_stamp::none());
  EXPECT_FALSE(none.exhausted());
}

TEST(ProducerStamp, WrapsBehindTheLargestSequence) {
  producer_stamp stamp{7, 0, largest};
  const batch_stamp at_the_end = stamp.take(1);
  EXPECT_EQ(at_the_end.base, sequence{largest});
  EXPECT_EQ(last_sequence(at_the_end, 1), sequence{largest});
  EXPECT_EQ(stamp.take(1).base, sequence{0});
}

TEST(ProducerStamp, LetsABatchStraddleTheWrap) {
  producer_stamp stamp{7, 0, largest - 2};
  const batch_stamp straddling = stamp.take(5);
  EXPECT_EQ(straddling.base, sequence{2147483645});
  EXPECT_EQ(last_sequence(straddling, 5), sequence{1});
  EXPECT_EQ(stamp.next(), sequence{2});
}

TEST(ProducerStamp, TakesTheLargestBatchThatHasDistinctSequences) {
  producer_stamp stamp{7};
  EXPECT_EQ(stamp.take(largest).base, sequence{0});
  EXPECT_EQ(stamp.next(), sequence{largest});
}

TEST(ProducerStamp, RefusesAnEmptyBatch) {
  testing::contract_guard guard;
  producer_stamp stamp{7};
  EXPECT_THROW((void)stamp.take(0), testing::broken_contract);
  EXPECT_THROW((void)stamp.take(-1), testing::broken_contract);
}

TEST(ProducerStamp, AgreesWithArithmeticInWiderNumbers) {
  std::mt19937_64 random(20261129);
  std::uniform_int_distribution<std::int32_t> any(0, largest);
  for (int round = 0; round < 20000; ++round) {
    const std::int32_t from = any(random);
    const std::int32_t count = any(random);
    const auto expected = static_cast<std::int32_t>((std::int64_t{from} + count) % modulus);
    ASSERT_EQ(sequence_after(from, count).value, expected) << from << " + " << count;
    ASSERT_EQ(sequence_distance(from, expected), count) << from << " to " << expected;
    if (count > 0) {
      const auto last = static_cast<std::int32_t>((std::int64_t{from} + count - 1) % modulus);
      ASSERT_EQ(last_sequence({1, 0, from}, count).value, last);
    }
  }
}

}  // namespace
}  // namespace partita::actors
