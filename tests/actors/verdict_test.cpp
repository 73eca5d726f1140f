#include "actors/verdict.hpp"

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

namespace partita::actors {
namespace {

// Written from the documents, by number: the answers that prove that nothing was appended.
const std::set<int> proves_nothing_written{2,  10, 17, 18, 19, 21, 29, 31, 32,
                                           35, 43, 45, 47, 59, 76, 87, 100};
// Raised on either side of the append.
const std::set<int> either_side{-1, 3, 6, 7, 56};

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max();

attempt_verdict expected(int code, std::int64_t base_offset) {
  if (code == 0 || code == 46) return attempt_verdict::delivered;
  if (code == 20) return attempt_verdict::appended;
  if (either_side.contains(code))
    return base_offset >= 0 ? attempt_verdict::appended : attempt_verdict::unknown;
  if (proves_nothing_written.contains(code))
    return base_offset >= 0 ? attempt_verdict::unknown : attempt_verdict::not_appended;
  return attempt_verdict::unknown;
}

TEST(Verdict, JudgesEveryCodeWithEverySignOfTheOffset) {
  for (int code = std::numeric_limits<std::int16_t>::min();
       code <= std::numeric_limits<std::int16_t>::max(); ++code) {
    for (const std::int64_t base_offset : {smallest, std::int64_t{-2}, std::int64_t{-1},
                                           std::int64_t{0}, std::int64_t{41}, biggest}) {
      ASSERT_EQ(judge(static_cast<broker_errc>(code), base_offset), expected(code, base_offset))
          << "code " << code << ", base offset " << base_offset;
    }
  }
}

TEST(Verdict, NeverClearsTheCodesThatOtherBrokersUseAfterTheAppend) {
  for (const int code : {6, 3, 56, 7, 20, -1})
    for (const std::int64_t base_offset : {smallest, std::int64_t{-1}, std::int64_t{0}, biggest})
      EXPECT_TRUE(doubtful(judge(static_cast<broker_errc>(code), base_offset))) << code;
}

TEST(Verdict, TakesAnUnsentFrameForUnwrittenAndASentOneForUnknown) {
  EXPECT_EQ(judge(attempt_end::not_sent()), attempt_verdict::not_appended);
  EXPECT_EQ(judge(attempt_end::answer_lost()), attempt_verdict::unknown);
}

TEST(Verdict, IgnoresCodeAndOffsetOfAnAttemptWithoutAnAnswer) {
  EXPECT_EQ(judge({attempt_stage::sent, broker_errc::none, 12}), attempt_verdict::unknown);
  EXPECT_EQ(judge({attempt_stage::sent, broker_errc::not_enough_replicas, -1}),
            attempt_verdict::unknown);
  EXPECT_EQ(judge({attempt_stage::not_sent, broker_errc::request_timed_out, 12}),
            attempt_verdict::not_appended);
}

TEST(Verdict, IsDoubtfulByDefault) { EXPECT_TRUE(doubtful(judge(attempt_end{}))); }

TEST(Verdict, NamesAnOffsetOnlyWhenTheBrokerDid) {
  EXPECT_EQ(delivered_offset(broker_errc::none, 0), partita::offset{0});
  EXPECT_EQ(delivered_offset(broker_errc::none, 77), partita::offset{77});
  EXPECT_EQ(delivered_offset(broker_errc::none, -1), std::nullopt);
  EXPECT_EQ(delivered_offset(broker_errc::none, smallest), std::nullopt);
  EXPECT_EQ(delivered_offset(broker_errc::duplicate_sequence_number, -1), std::nullopt);
  EXPECT_EQ(delivered_offset(broker_errc::duplicate_sequence_number, 5), std::nullopt);
}

TEST(AttemptTally, IsInDoubtFromTheLastByteUntilTheAttemptIsCleared) {
  attempt_tally tally;
  tally.begun();
  EXPECT_FALSE(tally.in_doubt());
  tally.frame_may_have_left();
  EXPECT_TRUE(tally.in_doubt());
  EXPECT_FALSE(tally.doubted());
  tally.ended(attempt_verdict::not_appended);
  EXPECT_FALSE(tally.in_doubt());
  EXPECT_EQ(tally.attempts(), 1);
}

TEST(AttemptTally, KeepsTheDoubtOfAnEarlierAttemptWhateverComesLater) {
  for (const attempt_verdict first : {attempt_verdict::unknown, attempt_verdict::appended}) {
    attempt_tally tally;
    tally.begun();
    tally.frame_may_have_left();
    tally.ended(first);
    for (int retries = 0; retries < 3; ++retries) {
      tally.begun();
      tally.frame_may_have_left();
      tally.ended(attempt_verdict::not_appended);
      EXPECT_TRUE(tally.in_doubt());
      EXPECT_TRUE(tally.doubted());
    }
    EXPECT_EQ(tally.attempts(), 4);
  }
}

TEST(AttemptTally, AllowsOneAttemptAtATime) {
  testing::contract_guard guard;
  attempt_tally tally;
  EXPECT_THROW(tally.ended(attempt_verdict::unknown), testing::broken_contract);
  EXPECT_THROW(tally.frame_may_have_left(), testing::broken_contract);
  tally.begun();
  EXPECT_THROW(tally.begun(), testing::broken_contract);
}

}  // namespace
}  // namespace partita::actors
