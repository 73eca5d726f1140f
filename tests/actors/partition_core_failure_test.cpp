// What a failure does to its partition: who else fails, what may still be sent, under which
// numbers.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::numbers_in;
using testing::partition_bench;
using numbers = std::vector<int>;

partition_settings quick() { return partition_bench::quick(); }
partition_settings skipping() {
  auto with = partition_bench::quick();
  with.on_failure = failure_policy::skip;
  return with;
}

/// Records 1 and on in batches of two, in flight; record 0 lies at offset 0.
std::vector<batch*> in_flight(partition_bench& b, int batches) {
  b.started().establish();
  b.produce(2 * batches);
  auto sent = b.send_all();
  EXPECT_EQ(sent.size(), static_cast<std::size_t>(batches));
  return sent;
}

// The halt

TEST(PartitionCore, TheHaltIsInForceBeforeTheRecordsAreTold) {
  partition_bench b(quick());
  b.started();
  b.produce(4);

  b.answer(b.send(), 87);

  EXPECT_LT(b.place_of("halted kafka:87"), b.place_of("0 not_written kafka:87"));
  EXPECT_EQ(b.halts, 1);
  EXPECT_EQ(b.status().state, partition_state::halted);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.told(2), "") << "what lies behind is held";
  b.end();
}

TEST(PartitionCore, RecordsBehindAHaltAreRefusedWithItsCause) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  b.answer(b.send(), 29);

  b.produce(1);

  EXPECT_EQ(b.told(2), "not_written halted (kafka:29)");
  b.close();
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, ARecordThatFailedBeforeItsTurnHaltsWhatComesAfterItOnly) {
  partition_bench b(quick());
  b.started();
  b.produce(2);

  b.produce_failed(client_errc::record_too_large);
  b.produce(1);

  EXPECT_EQ(b.events,
            (std::vector<std::string>{"halted record_too_large", "2 not_written record_too_large",
                                      "3 not_written halted (record_too_large)"}));
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(1), "delivered@1");
}

TEST(PartitionCore, ARecordThatComesAfterItsDeadlineFails) {
  partition_bench b(skipping());
  b.started();

  b.produce_at(b.now - 10s);
  b.produce(1);

  EXPECT_EQ(b.told(0), "not_written delivery_timeout");
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(1), "delivered@0");
}

TEST(PartitionCore, WhereFailuresAreSkippedTheNextRecordsGoOn) {
  partition_bench b(skipping());
  b.started();
  b.produce(4);

  b.answer(b.send(), 87);
  batch* next = b.send();

  EXPECT_EQ(b.halts, 0);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(partition_bench::tuple_of(*next), "1.0") << "the tuple 0.0 is spent (L1)";
  b.deliver(next, 0);
  EXPECT_EQ(b.told(3), "delivered@1");
}

TEST(PartitionCore, AnAnswerThatProvesNothingAfterDoubtNeverMakesItNotWritten) {
  partition_bench b(skipping());
  b.started();
  b.produce(2);
  batch* sent = b.send();
  b.lose(sent);

  for (int i = 0; i < 3; ++i) {
    b.advance(1s);
    ASSERT_EQ(b.send(), sent);
    b.answer(sent, 19);
  }
  b.advance(10s);

  EXPECT_EQ(b.told(0), "unknown delivery_timeout (kafka:19)");
}

TEST(PartitionCore, ABatchInDoubtThatIsRefusedForItsNumberEndsAsUnknownWhereTheLogCanNotBeRead) {
  partition_bench b(skipping());
  b.started();
  b.produce(4);
  batch* sent = b.send();
  b.lose(sent);
  b.advance(1s);

  b.answer(b.send(), 45);
  b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);

  EXPECT_EQ(b.told(1), "unknown kafka:45 (log_not_readable)");
  batch* next = b.send();
  EXPECT_EQ(partition_bench::tuple_of(*next), "1.0");
  EXPECT_EQ(numbers_in(*next), (numbers{2, 3}));
  b.deliver(next, 2);
}

TEST(PartitionCore, TheLimitOfAttemptsEndsABatch) {
  auto with = skipping();
  with.attempts_max = 2;
  partition_bench b(with);
  b.started();
  b.produce(2);

  b.answer(b.send(), 19);
  b.advance(1s);
  b.answer(b.send(), 19);

  EXPECT_EQ(b.told(0), "not_written kafka:19");
}

// The fence

TEST(PartitionCore, NothingIsSentUntilEveryAttemptOfTheEpochHasEnded) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 3);

  b.advance(10s);
  EXPECT_EQ(b.told(1), "unknown delivery_timeout");
  EXPECT_EQ(b.told(5), "unknown delivery_timeout");
  b.produce(1);
  EXPECT_EQ(b.status().state, partition_state::fencing);
  b.answer(sent[0], 45);
  b.lose(sent[1]);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_FALSE(b.is_ready);
  b.deliver(sent[2], 5);

  EXPECT_TRUE(b.is_ready);
  batch* next = b.send();
  EXPECT_EQ(partition_bench::tuple_of(*next), "1.0");
  b.deliver(next, 9);
  EXPECT_EQ(b.told(7), "delivered@9");
  EXPECT_EQ(b.status().epoch_bumps, 1U);
}

TEST(PartitionCore, SurvivorsAreNumberedFromZeroInOrderAndOneGoesFirst) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 3);
  b.produce(2);

  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  EXPECT_EQ(b.send(), nullptr);
  b.answer(sent[2], 45);
  b.advance(1s);

  batch* first = b.send();
  EXPECT_EQ(first, sent[1]);
  EXPECT_EQ(partition_bench::tuple_of(*first), "1.0");
  EXPECT_EQ(b.send(), nullptr) << "one until the first success of the epoch";
  b.deliver(first, 1);
  EXPECT_EQ(b.send(), sent[2]);
  EXPECT_EQ(partition_bench::tuple_of(*sent[2]), "1.2");
  batch* newer = b.send();
  EXPECT_EQ(numbers_in(*newer), (numbers{7, 8}));
  b.deliver(sent[2], 3);
  b.deliver(newer, 5);
  EXPECT_EQ(b.told(1), "not_written kafka:87");
  EXPECT_EQ(b.answered(), 9U);
}

TEST(PartitionCore, ASuccessOfTheOldEpochDoesNotOpenTheWindowOfTheNew) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 2);
  b.produce(4);

  b.answer(sent[0], 87);
  b.deliver(sent[1], 1);

  batch* first = b.send();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(partition_bench::tuple_of(*first), "1.0");
  EXPECT_EQ(b.send(), nullptr);
  b.end();
}

TEST(PartitionCore, WhatLiesBeforeADoubtfulYoungerBatchIsNotSentAgain) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 4);

  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  b.lose(sent[2]);
  b.answer(sent[3], 45);

  EXPECT_EQ(b.told(1), "not_written kafka:87");
  EXPECT_EQ(b.told(3), "not_written epoch_given_up (kafka:45)");
  EXPECT_EQ(b.told(5), "unknown epoch_given_up (answer_lost)");
  EXPECT_EQ(b.told(7), "");
  b.reconnect();
  b.advance(1s);
  EXPECT_EQ(b.send(), sent[3]);
  b.deliver(sent[3], 3);
}

TEST(PartitionCore, WhatLiesBeforeADeliveredYoungerBatchIsNotSentAgain) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 2);

  b.answer(sent[0], 19);
  b.deliver(sent[1], 1);  // a broker that forgot: KAFKA-15591
  b.advance(1s);
  EXPECT_EQ(b.told(3), "") << "its answer waits for the older one";
  EXPECT_EQ(b.send(), sent[0]);
  b.answer(sent[0], 45);

  EXPECT_EQ(b.told(1), "not_written epoch_given_up (kafka:45)");
  EXPECT_EQ(b.told(3), "delivered@1");
}

TEST(PartitionCore, AYoungerBatchThatCanNotPassIsToldAfterTheOlder) {
  partition_bench b(quick());
  const auto sent = in_flight(b, 2);

  b.answer(sent[1], 87);
  EXPECT_EQ(b.told(3), "");
  b.deliver(sent[0], 1);

  EXPECT_LT(b.place_of("1 delivered@1"), b.place_of("halted kafka:87"));
  EXPECT_EQ(b.told(3), "not_written kafka:87");
  b.end();
}

TEST(PartitionCore, ABatchThatCanNotPassDoesNotSurviveTheFence) {
  partition_bench b(quick());
  const auto sent = in_flight(b, 2);

  b.answer(sent[1], 87);
  b.answer(sent[0], 45);  // the broker lost the tail: the older one goes to the next epoch
  EXPECT_EQ(b.told(3), "not_written kafka:87");
  b.advance(1s);
  batch* again = b.send();

  EXPECT_EQ(again, sent[0]) << "it lies before the halt";
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(again, 1);
  EXPECT_EQ(b.told(1), "delivered@1");
  b.end();
}

TEST(PartitionCore, AnAttemptThatNeverLeftKeepsItsTuple) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* sent = b.send();

  b.lose(sent, false);
  b.reconnect();
  b.advance(1s);

  EXPECT_EQ(b.send(), sent);
  EXPECT_EQ(partition_bench::tuple_of(*sent), "0.0");
  b.deliver(sent, 0);
}

TEST(PartitionCore, AFailureIsNotToldATroubleThatIsOver) {
  partition_bench b(quick());
  b.started();
  b.produce(1);
  b.lose(b.send());
  b.reconnect();
  b.advance(1s);
  b.deliver(b.send(), 0);
  b.pause();
  b.produce(1);

  b.advance(60s);

  EXPECT_EQ(b.told(1), "not_written delivery_timeout");
  b.end();
}

// Contradictions (L9)

TEST(PartitionCore, OffsetsThatGoBackwardsHaltWhateverThePolicy) {
  partition_bench b(skipping());
  b.started().establish(100);
  b.produce(3);

  b.deliver(b.send(), 50);

  EXPECT_EQ(b.told(1), "unknown invariant_broken");
  EXPECT_EQ(b.contradictions, 1);
  EXPECT_EQ(b.status().state, partition_state::halted);
  EXPECT_EQ(b.send(), nullptr);
  b.end();
}

TEST(PartitionCore, AContradictedYoungerBatchIsNeverSentAgain) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 3);

  b.deliver(sent[1], 0);  // record 0 lies there
  EXPECT_EQ(b.told(3), "");
  b.answer(sent[2], 45);
  b.answer(sent[0], 45);  // its epoch ends without it being written

  EXPECT_EQ(b.told(1), "not_written epoch_given_up (kafka:45)")
      << "the contradicted batch may be in the log before it";
  EXPECT_EQ(b.told(3), "unknown invariant_broken");
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.advance(1s);
  EXPECT_EQ(b.send(), nullptr);
  b.end();
}

TEST(PartitionCore, ADeadlineDoesNotHideAContradiction) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 2);

  b.deliver(sent[1], 0);
  b.advance(10s);

  EXPECT_EQ(b.told(1), "unknown delivery_timeout");
  EXPECT_EQ(b.told(3), "unknown invariant_broken");
  EXPECT_EQ(b.halts, 1);
  b.lose(sent[0]);
  b.end();
}

TEST(PartitionCore, CloseDoesNotCallAContradictedBatchNotWritten) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 2);
  b.deliver(sent[1], 0);

  b.close();

  EXPECT_EQ(b.told(3), "unknown closed");
  b.lose(sent[0]);
}

// Deadlines

TEST(PartitionCore, UnsentRecordsExpireOneByOne) {
  partition_bench b(skipping());
  b.started();
  b.pause();
  b.produce(1);
  b.advance(3s);
  b.produce_at(b.now, 5s);  // an older timestamp than its neighbour's

  b.advance(7s);
  EXPECT_EQ(b.told(0), "not_written delivery_timeout");
  EXPECT_EQ(b.told(1), "");
  b.resume();
  batch* rest = b.send();

  EXPECT_EQ(numbers_in(*rest), (numbers{1}));
  EXPECT_EQ(b.timer, b.now + 3s);
  b.deliver(rest, 4);
  EXPECT_EQ(b.told(1), "delivered@4");
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, ASentBatchExpiresAsAWholeAndIsUnknownWhileInDoubt) {
  partition_bench b(quick());
  b.started();
  b.produce(1);
  b.advance(3s);
  b.produce(1);
  b.lose(b.send());
  b.pause();

  b.advance(7s);

  EXPECT_EQ(b.told(0), "unknown delivery_timeout (answer_lost)");
  EXPECT_EQ(b.told(1), "unknown delivery_timeout (answer_lost)");
  b.end();
}

TEST(PartitionCore, ASentBatchThatIsProvenUnwrittenExpiresAsNotWritten) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  b.answer(b.send(), 19);
  b.pause();

  b.advance(10s);

  EXPECT_EQ(b.told(1), "not_written delivery_timeout (kafka:19)");
  b.end();
}

TEST(PartitionCore, ALateSuccessIsNoSecondAnswerButFreesTheBatch) {
  partition_bench b(skipping());
  b.started();
  b.produce(2);
  batch* late = b.send();

  b.advance(10s);
  EXPECT_EQ(b.told(0), "unknown delivery_timeout");
  EXPECT_EQ(b.status().epoch_bumps, 0U);
  b.deliver(late, 0);  // the bench fails on a second answer, and on a batch that is never freed

  EXPECT_EQ(b.status().epoch_bumps, 1U);
  EXPECT_EQ(b.told(0), "unknown delivery_timeout");
}

TEST(PartitionCore, ALateFailureIsNoSecondAnswerEither) {
  partition_bench b(skipping());
  b.started();
  b.produce(2);
  batch* late = b.send();

  b.advance(10s);
  b.answer(late, 87);

  EXPECT_EQ(b.told(0), "unknown delivery_timeout");
  EXPECT_EQ(b.status().epoch_bumps, 1U);
}

TEST(PartitionCore, AnAcknowledgementThatMeetsTheDeadlineWins) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* sent = b.send();

  b.now += 10s;
  b.deliver(sent, 0);
  b.advance(0s);

  EXPECT_EQ(b.told(0), "delivered@0");
}

TEST(PartitionCore, ARecordThatWasStampedFirstAndQueuedSecondEndsWithItsNeighbour) {
  partition_bench b(skipping());
  b.started();
  b.pause();
  b.produce_at(b.now);
  b.produce_at(b.now);
  b.produce_at(b.now - 1s);

  b.advance(9s);
  EXPECT_EQ(b.answered(), 0U);
  b.advance(1s);

  EXPECT_EQ(b.answered(), 3U);
  EXPECT_EQ(b.timer, std::nullopt);
}

TEST(PartitionCore, ARecordThatWasStampedFirstAndQueuedSecondDoesNotStopThePipeline) {
  partition_bench b(skipping());
  b.started().establish();

  b.produce(2);
  b.produce_at(b.now - 1ms);

  EXPECT_EQ(b.send_all().size(), 2U);
  b.end();
}

TEST(PartitionCore, AnExpiredSurvivorIsToldItsOwnLastCause) {
  partition_bench b(skipping());
  const auto sent = in_flight(b, 3);
  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  b.answer(sent[2], 19);
  b.pause();

  b.advance(10s);

  EXPECT_EQ(b.told(3), "not_written delivery_timeout (kafka:45)");
  EXPECT_EQ(b.told(5), "not_written delivery_timeout (kafka:19)");
}

/// Ways to fail one batch for good; each under both policies.
struct way {
  const char* name;
  void (*fail)(partition_bench&);
  const char* told;
};

class FailurePolicy : public ::testing::TestWithParam<way> {};

TEST_P(FailurePolicy, HaltHoldsWhatFollowsAndSkipLetsItPass) {
  for (const auto policy : {failure_policy::halt_partition, failure_policy::skip}) {
    auto with = quick();
    with.on_failure = policy;
    partition_bench b(with);
    b.started();
    b.produce(2);
    GetParam().fail(b);
    if (policy == failure_policy::skip) b.produce(2);

    EXPECT_EQ(b.told(0), GetParam().told);
    EXPECT_EQ(b.halts, policy == failure_policy::skip ? 0 : 1);
    b.resume();
    b.reconnect();
    b.advance(1s);
    batch* next = b.send();
    if (policy == failure_policy::skip) {
      ASSERT_NE(next, nullptr);
      EXPECT_EQ(numbers_in(*next), (numbers{2, 3}));
      b.deliver(next, 10);
    } else {
      EXPECT_EQ(next, nullptr);
      EXPECT_EQ(b.produce(1), 2);
      EXPECT_EQ(b.told(2).substr(0, 18), "not_written halted");
      b.close();
    }
    EXPECT_EQ(b.released_bytes, b.accepted_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    PartitionCore, FailurePolicy,
    ::testing::Values(way{"Unsent", [](partition_bench& b) { b.pause(), b.advance(10s); },
                          "not_written delivery_timeout"},
                      way{"InFlight",
                          [](partition_bench& b) {
                            batch* sent = b.send();
                            b.advance(10s);
                            b.lose(sent);
                          },
                          "unknown delivery_timeout"},
                      way{"Surrendered", [](partition_bench& b) { b.answer(b.send(), 29); },
                          "not_written kafka:29"},
                      way{"LogLost",
                          [](partition_bench& b) {
                            b.lose(b.send());
                            b.advance(1s);
                            b.answer(b.send(), 59);
                            b.log_is_silent(search_end::undecidable, client_errc::log_trimmed);
                          },
                          "unknown kafka:59 (log_trimmed)"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace partita::actors
