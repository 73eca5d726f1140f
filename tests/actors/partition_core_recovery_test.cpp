// recover(), and flushes across it.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::numbers_in;
using testing::partition_bench;
using numbers = std::vector<int>;
using texts = std::vector<std::string>;

partition_settings quick() { return partition_bench::quick(); }

/// Records 0 and 1 failed and were not written, 2 and 3 are held.
void halt(partition_bench& b) {
  b.started();
  b.produce(4);
  b.answer(b.send(), 87);
  ASSERT_EQ(b.status().state, partition_state::halted);
}

std::vector<std::string> values_of(const recovery_report& report) {
  std::vector<std::string> values;
  for (const taken_record& each : report.taken) values.push_back(*each.record.value);
  return values;
}

TEST(PartitionCore, ResubmitSendsTheFailedThenTheHeldThenTheNew) {
  partition_bench b(quick());
  halt(b);

  auto& run = b.recover(recovery::resubmit);
  b.produce(2);
  std::vector<numbers> order;
  for (std::int64_t i = 0; i < 3; ++i) {
    batch* next = b.send();
    ASSERT_NE(next, nullptr);
    order.push_back(numbers_in(*next));
    b.deliver(next, 2 * i);
  }

  EXPECT_TRUE(run.done);
  EXPECT_TRUE(run.command.report.was_halted);
  EXPECT_EQ(order, (std::vector<numbers>{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(run.resubmitted, (texts{"delivered@0", "delivered@1"}));
  EXPECT_EQ(b.told(0), "not_written kafka:87") << "the first answer stands";
  EXPECT_EQ(b.told(3), "delivered@3");
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, WhatWasResubmittedCanFailAndBeResubmittedAgain) {
  partition_bench b(quick());
  halt(b);
  auto& first = b.recover(recovery::resubmit);
  b.answer(b.send(), 29);
  EXPECT_EQ(first.resubmitted, (texts{"not_written kafka:29", "not_written kafka:29"}));
  EXPECT_EQ(b.halts, 2);

  auto& second = b.recover(recovery::resubmit);
  batch* again = b.send();
  EXPECT_EQ(numbers_in(*again), (numbers{0, 1}));
  b.deliver(again, 0);

  EXPECT_EQ(second.resubmitted, (texts{"delivered@0", "delivered@1"}));
  b.end();
}

/// Two batches failed and are sent again; the first of them fails again.
testing::recovery_run& fail_again(partition_bench& b) {
  b.started();
  b.produce(2);
  b.deliver(b.send(), 0);
  b.produce(4);
  batch* one = b.send();
  batch* two = b.send();
  b.answer(one, 29);
  b.answer(two, 29);
  auto& run = b.recover(recovery::resubmit);
  b.answer(b.send(), 87);
  return run;
}

TEST(PartitionCore, TheReportOfARecoveryDoesNotWaitBehindTheNextHalt) {
  partition_bench b(quick());
  auto& first = fail_again(b);
  EXPECT_TRUE(first.done);
  EXPECT_EQ(first.resubmitted,
            (texts{"not_written kafka:87", "not_written kafka:87", "not_written halted (kafka:87)",
                   "not_written halted (kafka:87)"}));

  auto& second = b.recover(recovery::resubmit);
  b.produce(2);
  std::vector<numbers> order;
  for (std::int64_t i = 1; i < 4; ++i) {
    batch* next = b.send();
    ASSERT_NE(next, nullptr);
    order.push_back(numbers_in(*next));
    b.deliver(next, 2 * i);
  }
  EXPECT_EQ(order, (std::vector<numbers>{{2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(second.resubmitted,
            (texts{"delivered@2", "delivered@3", "delivered@4", "delivered@5"}));
  b.end();
}

TEST(PartitionCore, WhatARecoverySentAgainCanBeTakenBehindTheNextHalt) {
  partition_bench b(quick());
  fail_again(b);
  auto& second = b.recover(recovery::take);
  EXPECT_TRUE(second.done);
  EXPECT_EQ(values_of(second.command.report).size(), 4U);
  b.end();
}

/// Records 0 and 1 are unknown, 2 and 3 held; nothing was numbered since.
void halt_in_doubt(partition_bench& b) {
  b.started();
  b.produce(2);
  b.advance(5s);
  b.produce(2);
  batch* late = b.send();
  b.advance(5s);
  b.lose(late);
  ASSERT_EQ(b.told(0), "unknown delivery_timeout");
}

TEST(PartitionCore, ORD_11_AnUnknownHeadIsRetriedUnderItsOldTupleBeforeAnythingElse) {
  partition_bench b(quick());
  halt_in_doubt(b);

  auto& run = b.recover(recovery::resubmit);
  batch* again = b.send();

  EXPECT_TRUE(run.command.report.left_out.empty());
  EXPECT_EQ(numbers_in(*again), (numbers{0, 1}));
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.0") << "a broker that has it recognises it";
  EXPECT_EQ(b.send(), nullptr) << "nothing overtakes it";
  b.answer(again, 19);
  b.advance(1s);
  ASSERT_EQ(b.send(), again);
  b.deliver(again, 0);
  EXPECT_EQ(run.resubmitted, (texts{"delivered@0", "delivered@1"}));
  b.produce(2);
  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{2, 3}));
  EXPECT_EQ(partition_bench::tuple_of(*next), "1.0");
  EXPECT_EQ(b.send(), nullptr) << "one until the first success of the new epoch (L10 a)";
  b.deliver(next, 2);
  b.end();
}

TEST(PartitionCore, AnUnknownHeadThatStaysInDoubtHaltsAgain) {
  partition_bench b(quick());
  halt_in_doubt(b);
  auto& run = b.recover(recovery::resubmit);
  batch* again = b.send();

  b.answer(again, 47);
  b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);

  const std::string answer = "unknown kafka:47 (log_not_readable)";
  EXPECT_EQ(run.resubmitted, (texts{answer, answer}));
  EXPECT_EQ(b.status().state, partition_state::halted);
  auto& second = b.recover(recovery::resubmit);
  EXPECT_EQ(second.command.report.left_out.size(), 2U) << "a broker may have forgotten it (L10 b)";
  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{2, 3}));
  EXPECT_EQ(partition_bench::tuple_of(*next), "2.0");
  b.deliver(next, 0);
  b.end();
}

TEST(PartitionCore, AnAnswerThatCameAfterTheDeadlineSettlesItsRecords) {
  for (const bool written : {true, false}) {
    partition_bench b(quick());
    b.started();
    b.produce(2);
    batch* late = b.send();
    b.produce(2);
    b.advance(10s);
    EXPECT_EQ(b.told(0), "unknown delivery_timeout");
    if (written)
      b.deliver(late, 7);
    else
      b.answer(late, 87);

    auto& run = b.recover(recovery::resubmit);

    if (written) {
      EXPECT_EQ(run.resubmitted, (texts{"delivered@7", "delivered@8", "", ""}));
      EXPECT_EQ(numbers_in(*b.send()), (numbers{2, 3})) << "it is not sent again";
    } else {
      batch* again = b.send();
      EXPECT_EQ(numbers_in(*again), (numbers{0, 1}));
      EXPECT_EQ(partition_bench::tuple_of(*again), "1.0") << "proven unwritten: a new submission";
    }
    b.end();
  }
}

TEST(PartitionCore, UnknownRecordsAreResubmittedWhereDuplicatesAreAllowed) {
  partition_bench b(quick());
  halt_in_doubt(b);

  auto& run = b.recover(recovery::resubmit, true);

  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{0, 1}));
  EXPECT_EQ(partition_bench::tuple_of(*next), "1.0");
  b.deliver(next, 0);
  EXPECT_EQ(run.resubmitted, (texts{"delivered@0", "delivered@1"}));
  b.end();
}

TEST(PartitionCore, UnknownRecordsAreLeftOutOnceSomethingElseWasNumbered) {
  auto with = quick();
  with.on_failure = failure_policy::halt_key;
  with.batch_records_max = 1;
  partition_bench b(with);
  b.started();
  b.produce_keyed("k1");
  batch* late = b.send();
  b.advance(5s);
  b.produce_keyed("k2");
  b.produce_keyed("k1");
  b.advance(5s);
  b.lose(late);
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(1), "delivered@0") << "other keys go on under the next epoch";

  auto& run = b.recover_key("k1", recovery::resubmit);

  EXPECT_EQ(run.command.report.left_out.size(), 1U);
  EXPECT_NE(run.command.report.left_out[0].ticket, ticket{});
  batch* next = b.send();
  EXPECT_EQ(numbers_in(*next), (numbers{2}));
  b.deliver(next, 1);
  b.end();
}

TEST(PartitionCore, ALeftOutRecordKeepsItsTicketAndAResubmittedOneGetsNone) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* late = b.send();
  b.advance(10s);
  b.lose(late);
  b.recover(recovery::resubmit, true);
  b.answer(b.send(), 87);

  auto& run = b.recover(recovery::take);

  ASSERT_EQ(run.command.report.taken.size(), 2U);
  EXPECT_EQ(run.command.report.taken[0].answer.fate, fate::not_written);
  EXPECT_EQ(run.command.report.taken[0].answer.ticket, ticket{})
      << "the ticket of its first, unknown failure";
}

TEST(PartitionCore, DiscardForgetsTheFailedAndLetsTheHeldGo) {
  partition_bench b(quick());
  halt(b);

  auto& run = b.recover(recovery::discard);
  batch* next = b.send();

  EXPECT_EQ(run.command.report.discarded, 2U);
  EXPECT_EQ(numbers_in(*next), (numbers{2, 3}));
  b.deliver(next, 0);
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, TakeHandsFailedAndHeldBackInTheirOrder) {
  partition_bench b(quick());
  halt(b);

  auto& run = b.recover(recovery::take);

  EXPECT_EQ(values_of(run.command.report), (texts{"0", "1", "2", "3"}));
  EXPECT_EQ(run.command.report.taken[1].answer.code, broker_errc::invalid_record);
  EXPECT_EQ(run.command.report.taken[2].answer.code, client_errc::handed_back);
  EXPECT_EQ(b.told(2), "not_written handed_back");
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, TakeLeavesWhatWasProducedBeforeTheFailure) {
  partition_bench b(quick());
  b.started();
  b.produce(4);
  b.produce_failed(client_errc::record_too_large);

  auto& run = b.recover(recovery::take);

  EXPECT_TRUE(run.command.report.taken.empty())
      << "nothing failed that was buffered, nothing is held";
  b.deliver(b.send(), 0);
  b.deliver(b.send(), 2);
  EXPECT_EQ(b.told(3), "delivered@3");
}

TEST(PartitionCore, RecoveringAPartitionThatIsNotHaltedChangesNothing) {
  partition_bench b(quick());
  b.started();
  b.produce(2);

  auto& run = b.recover(recovery::take);

  EXPECT_TRUE(run.done);
  EXPECT_FALSE(run.command.report.was_halted);
  b.deliver(b.send(), 0);
}

TEST(PartitionCore, RecoveryWaitsForTheLastAttempt) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(8);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  b.answer(sent[1], 45);

  auto& run = b.recover(recovery::resubmit);
  b.produce(1);
  EXPECT_FALSE(run.done);
  EXPECT_EQ(b.told(9), "") << "new records are accepted at once";
  EXPECT_EQ(b.send(), nullptr);
  b.answer(sent[2], 45);
  b.answer(sent[3], 45);
  EXPECT_TRUE(run.done);

  b.advance(1s);
  for (std::int64_t i = 0; i < 5; ++i) {
    batch* next = b.send();
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(partition_bench::first_of(*next), 2 * i + 1);
    b.deliver(next, 1 + 2 * i);
  }
  EXPECT_EQ(run.resubmitted, (texts{"delivered@1", "delivered@2"}));
}

TEST(PartitionCore, WhatFailsWhileARecoveryWaitsBelongsToIt) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(6);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);

  auto& run = b.recover(recovery::take);
  b.lose(sent[2]);
  b.answer(sent[1], 45);  // before a doubtful one: its epoch is given up

  EXPECT_EQ(b.halts, 1);
  EXPECT_EQ(values_of(run.command.report), (texts{"1", "2", "3", "4", "5", "6"}));
  EXPECT_EQ(run.command.report.taken[2].answer.code, client_errc::epoch_given_up);
  EXPECT_EQ(run.command.report.taken[2].answer.fate, fate::not_written);
  EXPECT_EQ(run.command.report.taken[4].answer.fate, fate::unknown);
  EXPECT_EQ(b.status().state, partition_state::normal);
}

TEST(PartitionCore, HeldRecordsDoNotPassWhileARecoveryWaits) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(1);
  b.advance(9s);
  b.produce(1);
  batch* in_flight = b.send();
  ASSERT_EQ(in_flight->count(), 2U);
  b.advance(500ms);
  b.produce_failed(client_errc::record_too_large);  // halts, and no epoch ends

  b.recover(recovery::resubmit);
  b.produce(2);

  EXPECT_EQ(b.send(), nullptr) << "what failed would come after it";
  b.deliver(in_flight, 1);
  EXPECT_NE(b.send(), nullptr);
  b.end();
}

TEST(PartitionCore, APartitionHaltedAgainWhileARecoveryWaitsIsRecoveredOnceMore) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(4);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);

  auto& first = b.recover(recovery::discard);
  b.produce(1);
  b.produce_failed(client_errc::record_too_large);
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.produce(1);
  EXPECT_EQ(b.told(7), "not_written halted (record_too_large)");
  auto& second = b.recover(recovery::resubmit);
  b.produce(1);
  EXPECT_FALSE(second.done);
  b.answer(sent[1], 45);

  EXPECT_TRUE(first.done);
  EXPECT_TRUE(second.done);
  EXPECT_TRUE(second.command.report.was_halted);
  EXPECT_EQ(first.command.report.discarded, 2U);
  b.advance(1s);
  for (const int expected : {3, 5, 8}) {
    batch* next = b.send();
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(partition_bench::first_of(*next), expected);
    b.deliver(next, expected);
  }
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, WhatFailsBehindARecoveryThatWaitsIsNotCollectedByIt) {
  auto with = quick();
  with.delivery_timeout = 10s;
  partition_bench b(with);
  b.started().establish();
  b.produce(2);
  batch* stuck = b.send();
  b.advance(10s);  // given up while under way
  auto& first = b.recover(recovery::discard);
  b.produce(1);
  b.advance(10s);  // behind the recovery, still unsent
  EXPECT_EQ(b.told(3), "not_written delivery_timeout");

  b.lose(stuck);

  EXPECT_EQ(first.command.report.discarded, 2U);
  EXPECT_EQ(b.status().state, partition_state::halted);
  EXPECT_EQ(b.status().failed_records_kept, 1U);
  auto& second = b.recover(recovery::resubmit);
  b.deliver(b.send(), 1);
  EXPECT_EQ(second.resubmitted, (texts{"delivered@1"}));
}

TEST(PartitionCore, WhatFailsWhileARecoveryWaitsIsNamedByItsReport) {
  partition_bench b(quick());
  b.started().establish();
  const int first = b.produce(6);
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 3U);
  b.answer(sent[0], 87);
  auto& run = b.recover(recovery::resubmit);
  b.answer(sent[1], 87);
  EXPECT_FALSE(run.done);
  b.answer(sent[2], 45);

  ASSERT_TRUE(run.done);
  const auto named = [&](int count) {
    std::vector<record_number> known;
    for (int i = 0; i < count; ++i) known.push_back(b.failed_as.at(first + i));
    return known;
  };
  EXPECT_EQ(run.command.resubmitted, named(4)) << "two of them failed after the call";
  b.answer(b.send(), 87);
  auto& again = b.recover(recovery::resubmit);
  EXPECT_EQ(again.command.resubmitted, named(4)) << "the first answer's numbers still";
  b.end();
}

TEST(PartitionCore, TheOldNumbersAreTriedOnWhereTheLastAttemptEndedLate) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* stuck = b.send();
  b.advance(10s);  // given up while under way
  b.lose(stuck);
  auto& run = b.recover(recovery::resubmit);
  batch* again = b.send();
  ASSERT_EQ(again, stuck);

  b.answer(again, 87);  // proves nothing about the attempt before
  EXPECT_EQ(run.resubmitted, (texts{"", ""}));
  b.advance(2s);
  b.deliver(b.send(), 0);

  EXPECT_EQ(run.resubmitted, (texts{"delivered@0", "delivered@1"}));
  b.end();
}

// Deadlines of what was held

TEST(PartitionCore, HeldRecordsExpireAtTheirOwnDeadlineBehindResubmittedOnes) {
  partition_bench b(quick());
  halt(b);
  b.advance(9s);
  auto& run = b.recover(recovery::resubmit);
  batch* first = b.send();
  EXPECT_EQ(numbers_in(*first), (numbers{0, 1}));

  b.advance(1s);
  EXPECT_EQ(b.told(2), "not_written delivery_timeout (kafka:87)");
  EXPECT_EQ(run.resubmitted[0], "");
  b.deliver(first, 0);

  EXPECT_EQ(run.resubmitted[0], "delivered@0");
  b.end();
}

TEST(PartitionCore, AHeldRecordIsNotSentBehindAResubmittedOneThatOutlivesIt) {
  partition_bench b(quick());
  b.started();
  b.pause();
  b.produce(4);
  b.advance(1s);
  b.produce(2);
  b.advance(9s);  // the first four expire, the last two are held
  b.resume();
  auto& run = b.recover(recovery::resubmit);

  b.deliver(b.send(), 0);  // opens the window
  batch* second = b.send();
  EXPECT_EQ(numbers_in(*second), (numbers{2, 3}));
  EXPECT_EQ(b.send(), nullptr) << "its answer would wait for one that may come after its deadline";
  b.deliver(second, 2);
  b.deliver(b.send(), 4);

  EXPECT_EQ(run.resubmitted.back(), "delivered@3");
  EXPECT_EQ(b.told(5), "delivered@5");
}

// The first record behind the halt expired; the next one joined what lies before the halt.
TEST(PartitionCore, ARecordBehindAHaltDoesNotPassItInABatchFromBefore) {
  auto with = quick();
  with.while_halted = while_halted::hold;
  with.batch_records_max = 4;
  partition_bench b(with);
  b.started();
  b.produce();
  b.produce_failed(client_errc::record_too_large);
  b.produce_own(50ms);
  b.advance(60ms);
  ASSERT_EQ(b.told(2), "not_written delivery_timeout (record_too_large)");
  b.produce();
  batch* before = b.send();
  EXPECT_EQ(numbers_in(*before), (numbers{0}));
  b.deliver(before, 0);
  b.advance(1s);
  EXPECT_EQ(b.send(), nullptr);
  b.recover(recovery::resubmit);
  std::vector<numbers> order;
  for (std::int64_t at = 1; batch* next = b.send(); ++at) {
    order.push_back(numbers_in(*next));
    b.deliver(next, at);
  }
  EXPECT_EQ(order, (std::vector<numbers>{{2}, {3}}));
  b.end();
}

TEST(PartitionCore, WhatLiesBehindAFailureThatAWaitingRecoveryCollectsIsHeldToo) {
  partition_bench b(quick());
  b.started();
  b.produce(4);
  batch* sent = b.send();
  b.produce_failed(client_errc::record_too_large);
  auto& run = b.recover(recovery::take);

  b.answer(sent, 87);

  EXPECT_EQ(values_of(run.command.report), (texts{"0", "1", "2", "3"}));
  b.end();
}

TEST(PartitionCore, WhatFailsBehindAWaitingRecoveryIsNotKeptWhereFailuresAreSkipped) {
  auto with = quick();
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.started().establish();
  b.produce(4);
  const auto sent = b.send_all();
  b.deliver(sent[0], 0);  // contradicts record 0, so that even this partition halts
  b.recover(recovery::discard);
  b.produce(1);

  b.advance(10s);

  EXPECT_EQ(b.told(5), "not_written delivery_timeout");
  EXPECT_EQ(b.status().failed_records_kept, 4U);
  b.end();
}

// Flushes

TEST(PartitionCore, AFlushBehindARecoveryWaitsForTheResubmitted) {
  partition_bench b(quick());
  halt(b);
  b.recover(recovery::resubmit);

  auto& flush = b.flush();
  b.deliver(b.send(), 0);
  EXPECT_FALSE(flush.done);
  b.deliver(b.send(), 2);

  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, (tally{.delivered = 4}));
}

TEST(PartitionCore, AFlushBehindARecoveryThatWaitsCountsWhatItResubmits) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* stuck = b.send();
  b.advance(10s);
  b.recover(recovery::resubmit, true);

  auto& flush = b.flush();
  EXPECT_FALSE(flush.done) << "nothing is unanswered yet, but it will be";
  b.lose(stuck);
  EXPECT_FALSE(flush.done);
  b.deliver(b.send(), 0);

  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, (tally{.delivered = 2}));
}

TEST(PartitionCore, AFlushBehindARecoveryThatResubmitsNothingEndsWithIt) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* stuck = b.send();
  b.advance(10s);
  b.recover(recovery::discard);
  auto& flush = b.flush();

  b.lose(stuck);

  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, tally{});
}

TEST(PartitionCore, AFlushBeforeARecoveryDoesNotWaitForWhatIsResubmitted) {
  partition_bench b(quick());
  b.started();
  b.produce(4);
  batch* sent = b.send();
  auto& flush = b.flush();
  b.answer(sent, 87);

  b.recover(recovery::resubmit);
  b.deliver(b.send(), 0);
  EXPECT_FALSE(flush.done) << "the held ones were unanswered when it came";
  b.deliver(b.send(), 2);

  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, (tally{.delivered = 2, .not_written = 2}));
}

}  // namespace
}  // namespace partita::actors
