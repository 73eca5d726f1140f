#include "actors/retry.hpp"

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

constexpr duration longest = duration::max();

instant at_time(duration since_start) { return instant{} + since_start; }

retry_situation after(attempt_end end) {
  return {.end = end, .now = at_time(10s), .deadline = at_time(120s)};
}

retry_situation after(int code, std::int64_t base_offset = -1) {
  return after(attempt_end::answered(static_cast<broker_errc>(code), base_offset));
}

retry_decision decide(const retry_situation& at) { return decide_retry(retry_policy{}, at); }

// By number, from the tables of the documents.
const std::set<int> again{19, 100};  // what is left of Kafka's retriable codes without doubt
const std::set<int> cuttable{10, 18};
const std::set<int> numbering{45, 47, 59};
const std::set<int> refreshing{3, 5, 6, 13, 56, 74, 75, 100, 103};
const std::set<int> kafka_retries{2,  3,  5,  6,  7,  13, 14, 15,  16,
                                  19, 20, 51, 56, 74, 75, 89, 100, 103};

TEST(Retry, KnowsKafkasRetriableCodes) {
  for (int code = -32768; code <= 32767; ++code)
    ASSERT_EQ(retriable(static_cast<broker_errc>(code)), kafka_retries.contains(code)) << code;
}

/// Every situation of interest after every code, as one loop.
template <class Visit>
void for_each_situation(Visit&& visit) {
  for (int code = -2; code <= 133; ++code) {
    if (code == 0 || code == 46) continue;
    for (const std::int64_t base_offset : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{9}})
      for (unsigned flags = 0; flags < 64; ++flags) {
        retry_situation at = after(code, base_offset);
        at.earlier_doubt = (flags & 1U) != 0;
        at.idempotent = (flags & 2U) != 0;
        at.predecessor_unfinished = (flags & 4U) != 0;
        at.record_count = (flags & 8U) != 0 ? 3 : 1;
        at.newer_leader_known = (flags & 16U) != 0;
        at.back_dated = (flags & 32U) != 0;
        visit(code, at);
      }
  }
}

bool in_doubt(const retry_situation& at) { return at.earlier_doubt || doubtful(judge(at.end)); }

TEST(Retry, NeverTouchesOrDisownsABatchInDoubt) {
  for_each_situation([](int code, const retry_situation& at) {
    if (!in_doubt(at)) return;
    const retry_decision decision = decide(at);
    if (at.idempotent) {
      const bool same_bytes = decision.action == retry_action::retry ||
                              decision.action == retry_action::wait_for_predecessor;
      ASSERT_TRUE(same_bytes) << code;
      ASSERT_FALSE(decision.bump_epoch) << code;
      ASSERT_FALSE(decision.new_producer_id) << code;
    } else {
      ASSERT_EQ(decision.action, retry_action::give_up) << code;
      ASSERT_EQ(decision.fate, fate::unknown) << code;
    }
  });
}

TEST(Retry, CallsABatchNotWrittenOnlyWithoutAnyDoubt) {
  for_each_situation([](int code, retry_situation at) {
    for (const duration now : {10s, 120s}) {
      at.now = at_time(now);
      const retry_decision decision = decide(at);
      if (decision.action != retry_action::give_up) continue;
      ASSERT_EQ(decision.fate, in_doubt(at) ? fate::unknown : fate::not_written) << code;
    }
  });
}

TEST(Retry, LeavesTheEpochWheneverATupleIsGivenUp) {
  for_each_situation([](int code, retry_situation at) {
    for (const duration now : {10s, 120s}) {
      at.now = at_time(now);
      const retry_decision decision = decide(at);
      const bool keeps_tuple = decision.action == retry_action::retry ||
                               decision.action == retry_action::wait_for_predecessor;
      ASSERT_EQ(decision.bump_epoch, at.idempotent && !keeps_tuple) << code;
    }
  });
}

TEST(Retry, SendsNothingAgainAtTheDeadline) {
  for_each_situation([](int code, retry_situation at) {
    for (const duration late : {0ns, 1ns, 3600'000'000'000ns}) {
      at.now = at.deadline + late;
      ASSERT_EQ(decide(at).action, retry_action::give_up) << code;
    }
  });
}

TEST(Retry, AlwaysBacksOffExceptToANewerLeader) {
  for_each_situation([](int code, const retry_situation& at) {
    const retry_decision decision = decide(at);
    if (decision.action == retry_action::give_up || decision.action == retry_action::split) return;
    const bool may_hurry = decision.action == retry_action::retry && at.newer_leader_known &&
                           refreshing.contains(code);
    ASSERT_EQ(decision.delay == duration{}, may_hurry) << code;
  });
}

TEST(Retry, AsksForMetadataWhereTheLeaderMayHaveMoved) {
  for_each_situation([](int code, const retry_situation& at) {
    const retry_decision decision = decide(at);
    if (decision.action != retry_action::retry) return;
    ASSERT_EQ(decision.refresh_metadata, refreshing.contains(code)) << code;
  });
}

// The whole decision table for batches whose every attempt is proven unwritten.
TEST(Retry, DecidesEveryCodeOfABatchThatIsNotInDoubt) {
  for_each_situation([](int code, const retry_situation& at) {
    if (in_doubt(at)) return;
    const retry_action action = decide(at).action;
    if (again.contains(code) || code == 2) {
      ASSERT_EQ(action, retry_action::retry) << code;
    } else if (cuttable.contains(code) && at.record_count > 1) {
      const bool waits = at.idempotent && at.predecessor_unfinished;
      ASSERT_EQ(action, waits ? retry_action::wait_for_predecessor : retry_action::split) << code;
    } else if (numbering.contains(code) && at.idempotent) {
      ASSERT_EQ(action, at.predecessor_unfinished ? retry_action::wait_for_predecessor
                                                  : retry_action::bump_and_resend)
          << code;
    } else {
      ASSERT_EQ(action, retry_action::give_up) << code;
    }
  });
}

TEST(Retry, ReadsTheLogBeforeItRetriesWhatTheBrokerMayHaveForgotten) {
  for_each_situation([](int code, const retry_situation& at) {
    const retry_decision decision = decide(at);
    const bool wanted = decision.action == retry_action::retry && in_doubt(at) &&
                        (numbering.contains(code) || at.back_dated);
    ASSERT_EQ(decision.read_log_first, wanted) << code;
  });
}

// The mixture that loses a record in other clients: appended, answered 7; retried, answered 19.
TEST(Retry, DoesNotLetALaterNotEnoughReplicasExcuseAnEarlierTimeOut) {
  retry_situation at = after(19);
  at.earlier_doubt = true;
  EXPECT_EQ(decide(at).action, retry_action::retry);
  at.now = at.deadline;
  EXPECT_EQ(decide(at).action, retry_action::give_up);
  EXPECT_EQ(decide(at).fate, fate::unknown);
  EXPECT_EQ(decide(at).ended_by, limit::delivery_timeout);
}

TEST(Retry, NeverSplitsABatchInDoubtThatIsTooLarge) {
  retry_situation at = after(10);
  at.record_count = 100;
  EXPECT_EQ(decide(at).action, retry_action::split);
  at.earlier_doubt = true;
  EXPECT_EQ(decide(at).action, retry_action::retry);
}

TEST(Retry, AsksSeldomWhileOnlyAnAdministratorCanHealADoubtfulBatch) {
  retry_situation at = after(32);
  at.earlier_doubt = true;
  EXPECT_GE(decide(at).delay, 800ms);
  EXPECT_LE(decide(at).delay, 1s);
  at = after(19);
  at.earlier_doubt = true;
  EXPECT_LE(decide(at).delay, 120ms);
}

TEST(Retry, RetriesAnUnsentBatchEvenWithoutIdempotence) {
  retry_situation at = after(attempt_end::not_sent());
  at.idempotent = false;
  EXPECT_EQ(decide(at).action, retry_action::retry);
  EXPECT_TRUE(decide(at).refresh_metadata);
}

TEST(Retry, NeverRepeatsALostAnswerWithoutIdempotence) {
  retry_situation at = after(attempt_end::answer_lost());
  EXPECT_EQ(decide(at).action, retry_action::retry);
  at.idempotent = false;
  EXPECT_EQ(decide(at).action, retry_action::give_up);
  EXPECT_EQ(decide(at).fate, fate::unknown);
}

TEST(Retry, GivesUpOnBytesThatKeepArrivingDamaged) {
  retry_situation at = after(2);
  at.attempts = 40;
  at.repeats = 2;
  EXPECT_EQ(decide(at).action, retry_action::retry);
  at.repeats = 3;
  EXPECT_EQ(decide(at).action, retry_action::give_up);
  EXPECT_EQ(decide(at).fate, fate::not_written);
}

TEST(Retry, TakesANewProducerIdWhenBumpingDoesNotHelp) {
  for (const int code : numbering) {
    retry_situation at = after(code);
    EXPECT_FALSE(decide(at).new_producer_id) << code;
    at.repeats = 3;
    EXPECT_TRUE(decide(at).new_producer_id) << code;
    EXPECT_EQ(decide(at).action, retry_action::bump_and_resend) << code;
  }
}

TEST(Retry, StopsAtTheLimitOfAttempts) {
  retry_policy policy{.attempts_max = 3};
  retry_situation at = after(19);
  at.attempts = 2;
  EXPECT_EQ(decide_retry(policy, at).action, retry_action::retry);
  at.attempts = 3;
  EXPECT_EQ(decide_retry(policy, at).action, retry_action::give_up);
  EXPECT_EQ(decide_retry(policy, at).fate, fate::not_written);
  at.earlier_doubt = true;
  EXPECT_EQ(decide_retry(policy, at).fate, fate::unknown);
  EXPECT_TRUE(decide_retry(policy, at).bump_epoch);
}

TEST(Retry, NamesTheDeadlineOnlyWhenItDecided) {
  retry_situation at = after(87);
  at.now = at.deadline;
  EXPECT_EQ(decide(at).ended_by, limit::none);
  at = after(19);
  at.now = at.deadline;
  EXPECT_EQ(decide(at).ended_by, limit::delivery_timeout);
}

TEST(Retry, IsNotAskedAboutASuccess) {
  testing::contract_guard guard;
  EXPECT_THROW((void)decide(after(0, 5)), testing::broken_contract);
  EXPECT_THROW((void)decide(after(46)), testing::broken_contract);
}

TEST(Backoff, DoublesUpToTheLargest) {
  const retry_policy policy;
  EXPECT_EQ(backoff_after(policy, 1, 0.5), 100ms);
  EXPECT_EQ(backoff_after(policy, 2, 0.5), 200ms);
  EXPECT_EQ(backoff_after(policy, 3, 0.5), 400ms);
  EXPECT_EQ(backoff_after(policy, 4, 0.5), 800ms);
  EXPECT_EQ(backoff_after(policy, 5, 0.5), 1s);
  EXPECT_EQ(backoff_after(policy, 1000, 0.5), 1s);
}

TEST(Backoff, SpreadsByAFifthEitherWay) {
  const retry_policy policy;
  EXPECT_EQ(backoff_after(policy, 2, 0.0), 160ms);
  EXPECT_EQ(backoff_after(policy, 2, 1.0), 240ms);
  EXPECT_EQ(backoff_after(policy, 50, 0.0), 800ms);
  EXPECT_EQ(backoff_after(policy, 50, 1.0), 1s);
}

TEST(Backoff, NeitherOverflowsNorVanishesForAnySettings) {
  const duration values[] = {duration::min(), -1s,         0ns,    1ns, 1us, 1ms, 100ms, 24h,
                             24h * 365 * 100, longest / 3, longest};
  for (const duration first : values)
    for (const duration largest : values)
      for (const int attempts : {-5, 0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 1 << 20, 2147483647})
        for (const double draw : {-1.0, 0.0, 0.3, 1.0, 9.0}) {
          const duration delay =
              backoff_after({.backoff = first, .backoff_max = largest}, attempts, draw);
          ASSERT_GE(delay, 1ms);
          ASSERT_LE(delay, std::max<duration>(largest, 1ms));
        }
}

}  // namespace
}  // namespace partita::actors
