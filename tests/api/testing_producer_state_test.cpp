#include "api/testing/producer_state.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

constexpr std::int32_t sequence_max = 2147483647;

// Asks, and remembers when the answer is yes: what a leader does with a batch.
struct remembering {
  producer_state state;
  std::int64_t end = 0;

  broker_errc append(std::int16_t epoch, std::int32_t first, std::int32_t count = 1,
                     std::int64_t timestamp = 100) {
    const auto last = static_cast<std::int32_t>((std::int64_t{first} + count - 1) % (1LL << 31));
    const batch_tuple tuple{7, epoch, first, last};
    const auto code = state.check(tuple, end > 0, emulation::kafka_4_4);
    if (code == broker_errc::none) {
      state.remember(tuple, end, end + count - 1, timestamp);
      end += count;
    }
    return code;
  }
  const batch_metadata* find(std::int16_t epoch, std::int32_t first, std::int32_t last) const {
    return state.find_duplicate({7, epoch, first, last});
  }
};

TEST(ProducerState, AcceptsAnyFirstSequenceWithoutState) {
  EXPECT_EQ(remembering{}.append(0, 17), broker_errc::none);
  EXPECT_EQ(remembering{}.append(9, sequence_max), broker_errc::none);
}

TEST(ProducerState, EmulatesOlderAndNewerRulesForAFirstSequence) {
  const producer_state state;
  const batch_tuple late{7, 0, 5, 5};
  EXPECT_EQ(state.check(late, true, emulation::kafka_2_4), broker_errc::unknown_producer_id);
  EXPECT_EQ(state.check(late, false, emulation::kafka_4_5),
            broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(state.check(late, true, emulation::kafka_4_5), broker_errc::none);
  EXPECT_EQ(state.check({7, 0, 0, 0}, false, emulation::kafka_4_5), broker_errc::none);
}

TEST(ProducerState, RefusesAGapAndStaysAsItWas) {
  remembering producer;
  ASSERT_EQ(producer.append(0, 0), broker_errc::none);
  EXPECT_EQ(producer.append(0, 2), broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(producer.append(0, 1), broker_errc::none);
}

TEST(ProducerState, RecognisesFiveBatchesAndNotTheSixth) {
  remembering producer;
  for (std::int32_t sequence = 0; sequence < 6; ++sequence)
    ASSERT_EQ(producer.append(0, sequence), broker_errc::none);
  EXPECT_EQ(producer.find(0, 0, 0), nullptr);
  for (std::int32_t sequence = 1; sequence < 6; ++sequence) {
    const auto* known = producer.find(0, sequence, sequence);
    ASSERT_NE(known, nullptr) << sequence;
    EXPECT_EQ(known->first_offset(), sequence);
  }
}

TEST(ProducerState, ADuplicateMustMatchBothEnds) {
  remembering producer;
  ASSERT_EQ(producer.append(0, 0, 3), broker_errc::none);
  EXPECT_NE(producer.find(0, 0, 2), nullptr);
  EXPECT_EQ(producer.find(0, 0, 1), nullptr);
  EXPECT_EQ(producer.find(0, 1, 2), nullptr);
  EXPECT_EQ(producer.find(1, 0, 2), nullptr);
}

TEST(ProducerState, WrapsAtTheEndOfTheSequences) {
  remembering producer;
  ASSERT_EQ(producer.append(0, sequence_max - 1, 5), broker_errc::none);
  EXPECT_EQ(producer.append(0, 2), broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(producer.append(0, 3), broker_errc::none);
  const auto* known = producer.find(0, sequence_max - 1, 2);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->first_offset(), 0);

  remembering exact;
  ASSERT_EQ(exact.append(0, sequence_max), broker_errc::none);
  EXPECT_EQ(exact.append(0, 0), broker_errc::none);
}

TEST(ProducerState, ANewEpochStartsAtZeroAndEmptiesTheWindow) {
  remembering producer;
  ASSERT_EQ(producer.append(0, 0), broker_errc::none);
  EXPECT_EQ(producer.append(5, 1), broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(producer.append(5, 0), broker_errc::none);
  EXPECT_EQ(producer.find(0, 0, 0), nullptr);
  EXPECT_EQ(producer.append(4, 0), broker_errc::invalid_producer_epoch);
  EXPECT_EQ(producer.append(0, 1), broker_errc::invalid_producer_epoch);
}

TEST(ProducerState, ARestartLeavesAWindowOfOne) {
  remembering producer;
  for (std::int32_t sequence = 0; sequence < 3; ++sequence)
    ASSERT_EQ(producer.append(0, sequence), broker_errc::none);
  producer.state.keep_last_batches();
  EXPECT_EQ(producer.find(0, 1, 1), nullptr);
  EXPECT_NE(producer.find(0, 2, 2), nullptr);
  EXPECT_EQ(producer.append(0, 3), broker_errc::none);
}

TEST(ProducerState, ExpiresByTheTimestampOfRecords) {
  remembering producer;
  ASSERT_EQ(producer.append(3, 0, 1, 1000), broker_errc::none);
  producer.state.expire(1999, 1000);
  EXPECT_EQ(producer.append(0, 9), broker_errc::invalid_producer_epoch);
  producer.state.expire(2000, 1000);
  EXPECT_EQ(producer.append(0, 9), broker_errc::none);  // the epoch is forgotten too
}

}  // namespace
}  // namespace partita::testing
