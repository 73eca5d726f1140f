#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::name_of;
using testing::numbers_in;
using testing::partition_bench;
using numbers = std::vector<int>;

partition_settings quick() { return partition_bench::quick(); }

// Sending

TEST(PartitionCore, AsksForAProducerIdWithTheFirstRecord) {
  partition_bench b(quick());
  b.leader(1);
  EXPECT_EQ(b.ids_asked, 0);

  b.produce(3);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.ids_asked, 1);
  b.grant(4242);
  batch* first = b.send();

  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tuple(), (wire::batch_stamp{4242, 0, 0}));
  EXPECT_EQ(numbers_in(*first), (numbers{0, 1}));
  b.end();
}

TEST(PartitionCore, ALargeRecordHasABatchOfItsOwn) {
  auto with = quick();
  with.batch_bytes_max = 1000;
  partition_bench b(with);
  b.started().establish();

  b.produce(1);
  b.produce_large(100'000);
  b.produce(1);
  const auto sent = b.send_all();

  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(numbers_in(*sent[1]), (numbers{2}));
  b.end();
}

TEST(PartitionCore, SendsNothingWithoutALeader) {
  partition_bench b(quick());
  b.produce(1);
  b.grant(4242);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.status().state, partition_state::leaderless);

  b.leader(1);

  EXPECT_TRUE(b.is_ready);
  b.deliver(b.send(), 7);
  EXPECT_EQ(b.told(0), "delivered@7");
}

TEST(PartitionCore, SendsOneBatchUntilTheFirstSuccessThenFive) {
  partition_bench b(quick());
  b.started();
  b.produce(14);

  batch* first = b.send();
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_FALSE(b.is_ready);
  b.deliver(first, 0);
  const auto more = b.send_all();

  ASSERT_EQ(more.size(), 5U);
  for (std::size_t i = 0; i < more.size(); ++i)
    EXPECT_EQ(more[i]->tuple().base.value, static_cast<int>(2 * i + 2));
  b.end();
}

TEST(PartitionCore, SendsNoMoreThanABrokerRemembersWhateverIsConfigured) {
  auto with = quick();
  with.max_in_flight = 100;
  partition_bench b(with);
  b.started().establish();
  b.produce(40);

  const auto sent = b.send_all();

  EXPECT_EQ(sent.size(), 5U);
  EXPECT_EQ(b.contradictions, 0);
  b.end();
}

TEST(PartitionCore, SendsOneBatchAgainAfterAMinuteWithoutASuccess) {
  partition_bench b(quick());
  b.started().establish();

  b.advance(59s);
  b.produce(4);
  const auto before = b.send_all();
  for (std::size_t i = 0; i < before.size(); ++i)
    b.deliver(before[i], static_cast<std::int64_t>(1 + 2 * i));
  b.advance(60s);
  b.produce(4);

  EXPECT_EQ(before.size(), 2U);
  batch* alone = b.send();
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(alone, 5);
}

TEST(PartitionCore, SendsOneBatchAgainOnANewConnection) {
  partition_bench b(quick());
  b.started().establish();

  b.reconnect();
  b.produce(4);
  batch* alone = b.send();

  EXPECT_EQ(b.send(), nullptr);
  b.deliver(alone, 1);
  EXPECT_NE(b.send(), nullptr);
  b.end();
}

TEST(PartitionCore, ANewConnectionToTheSameLeaderWaitsForTheOldAttemptsToo) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(4);
  batch* old = b.send();

  b.reconnect();
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(old, 1);

  EXPECT_NE(b.send(), nullptr);
  b.end();
}

TEST(PartitionCore, DoesNotUseANewConnectionWhileAnAttemptIsOutstandingOnTheOld) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(4);
  batch* old = b.send();

  b.leader(2);
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(old, 1);

  // The success came from the old leader: the new one is tried with one batch.
  batch* alone = b.send();
  ASSERT_NE(alone, nullptr);
  b.produce(2);
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(alone, 3);
}

TEST(PartitionCore, ASuccessOfTheOldIncarnationProvesNothingAboutTheNew) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(2);
  batch* old = b.send();

  b.core->new_incarnation(b.now);
  b.deliver(old, 1);
  b.produce(4);
  batch* alone = b.send();

  ASSERT_NE(alone, nullptr);
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(alone, 0);  // its log begins anew
  EXPECT_EQ(b.told(3), "delivered@0");
  EXPECT_EQ(b.contradictions, 0);
}

TEST(PartitionCore, RetriesTheOldestBatchFirstAndAlone) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(6);
  auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 3U);

  b.answer(sent[0], 19);
  b.advance(1s);
  EXPECT_EQ(b.send(), nullptr) << "younger attempts are outstanding";
  b.answer(sent[1], 45);
  b.answer(sent[2], 45);
  b.advance(1s);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(b.send(), sent[at]);
    EXPECT_EQ(b.send(), nullptr);
    b.deliver(sent[at], 1 + 2 * i);
  }

  EXPECT_EQ(b.told(6), "delivered@6");
  EXPECT_EQ(b.status().epoch_bumps, 0U);
}

// A broker that has forgotten takes the younger one, and then refuses the older one for ever.
TEST(PartitionCore, NothingNewJoinsARetryInFlight) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(2);
  batch* sent = b.send();
  b.answer(sent, broker_errc::throttling_quota_exceeded);
  b.produce(2);
  b.advance(1s);

  EXPECT_EQ(b.send(), sent);
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(sent, 1);

  b.deliver(b.send(), 3);
  EXPECT_EQ(b.told(4), "delivered@4");
}

TEST(PartitionCore, ARetryHasTheSameBytesAndTheSameTuple) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* sent = b.send();
  const auto bytes = sent->bytes().bytes().flatten();
  const auto tuple = sent->tuple();

  b.answer(sent, 7);
  b.reconnect();
  b.produce(2);
  b.advance(1s);

  ASSERT_EQ(b.send(), sent);
  EXPECT_EQ(sent->bytes().bytes().flatten(), bytes);
  EXPECT_EQ(sent->tuple(), tuple);
  b.deliver(sent, 0);
}

TEST(PartitionCore, WaitsForTheBackoffBeforeARetry) {
  partition_bench b(quick());
  b.started();
  b.produce(1);
  batch* sent = b.send();

  b.answer(sent, 19);
  b.advance(99ms);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.timer, b.now + 1ms);
  b.advance(1ms);

  EXPECT_TRUE(b.is_ready);
  EXPECT_EQ(b.send(), sent);
  b.deliver(sent, 0);
}

TEST(PartitionCore, ANewLeaderEndsTheBackoffButTheSameOneNamedAgainDoesNot) {
  partition_bench b(quick());
  b.started();
  b.produce(1);
  batch* sent = b.send();
  b.answer(sent, 6);

  b.leader(1, 1);
  EXPECT_EQ(b.send(), nullptr);
  b.leader(2, 2);

  EXPECT_EQ(b.send(), sent);
  b.deliver(sent, 0);
}

// The end of an attempt waits its turn in the partition's queue: a connection can be made anew
// first.
TEST(PartitionCore, IsNotReadyForANewConnectionBeforeTheAttemptsOnTheOldOneHaveEnded) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(4);
  batch* older = b.send();
  ASSERT_GT(b.core->next_bytes(b.now), 0U) << "a second one may go behind it";

  b.reconnect();
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.core->next_bytes(b.now), 0U) << "it would be asked again and again";
  b.lose(older);
  b.advance(1s);
  EXPECT_EQ(b.send(), older);
  EXPECT_EQ(b.send(), nullptr) << "the new connection has not shown that it works";
  b.deliver(older, 1);

  b.deliver(b.send(), 3);
  b.end();
}

TEST(PartitionCore, ABackDatedBatchGoesAloneInBothDirections) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(2);
  b.produce_at(b.now, 2h);
  b.produce_at(b.now, 2h);
  b.produce(2);

  batch* ordinary = b.send();
  EXPECT_EQ(b.send(), nullptr) << "it would share the connection with an older batch";
  b.deliver(ordinary, 1);
  batch* back_dated = b.send();
  EXPECT_EQ(b.send(), nullptr) << "a younger batch would share it";
  b.deliver(back_dated, 3);

  b.deliver(b.send(), 5);
  EXPECT_EQ(b.answered(), 7U);
}

// SEQ-22: the broker may have forgotten the producer by then, and take the second of two first.
TEST(PartitionCore, TheSuccessOfABackDatedBatchLetsOnlyOneOutBehindIt) {
  partition_bench b(quick());
  b.started().establish();
  b.produce_at(b.now, 2h);
  b.produce_at(b.now, 2h);
  b.deliver(b.send(), 1);
  b.produce(4);

  batch* first = b.send();
  EXPECT_EQ(b.send(), nullptr);
  b.deliver(first, 3);

  b.deliver(b.send(), 5);
  EXPECT_EQ(b.answered(), 7U);
}

TEST(PartitionCore, ABackDatedBatchInDoubtIsNotSentAgainBlindly) {
  partition_bench b(quick());
  b.started();
  b.produce_at(b.now, 2h);
  b.produce_at(b.now, 2h);

  b.lose(b.send());

  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.looked_for(), "0.0 from -1");
  b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);
  EXPECT_EQ(b.told(0), "unknown answer_lost (log_not_readable)");
}

// Without idempotence

TEST(PartitionCore, WithoutIdempotenceOneBatchIsInFlightAndNoIdIsNeeded) {
  auto with = quick();
  with.idempotent = false;
  with.required_acks = acks::leader;
  partition_bench b(with);
  b.leader(1);
  b.produce(6);

  for (std::int64_t i = 0; i < 3; ++i) {
    batch* alone = b.send();
    ASSERT_NE(alone, nullptr);
    EXPECT_FALSE(alone->tuple().idempotent());
    EXPECT_EQ(b.send(), nullptr);
    b.deliver(alone, 2 * i);
  }

  EXPECT_EQ(b.ids_asked, 0);
  EXPECT_EQ(b.told(5), "delivered@5");
}

TEST(PartitionCore, WithoutIdempotenceADoubtfulAttemptIsNeverRepeated) {
  auto with = quick();
  with.idempotent = false;
  with.required_acks = acks::leader;
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.leader(1);
  b.produce(2);

  batch* sent = b.send();
  b.lose(sent, false);
  b.advance(1s);
  EXPECT_EQ(b.send(), sent) << "it had not left: no doubt";
  b.lose(sent, true);

  EXPECT_EQ(b.told(0), "unknown answer_lost");
  b.advance(5s);
  EXPECT_EQ(b.send(), nullptr);
}

TEST(PartitionCore, WithoutAcksTheOutcomeIsUnknownAndHaltsNothing) {
  auto with = quick();
  with.idempotent = false;
  with.required_acks = acks::none;
  partition_bench b(with);
  b.leader(1);
  b.produce(4);

  batch* first = b.send();
  EXPECT_EQ(b.send(), nullptr);
  b.core->never_answered(*first, b.now);
  b.core->never_answered(*b.send(), b.now);

  EXPECT_EQ(b.told(0), "unknown no_acknowledgement");
  EXPECT_EQ(b.told(3), "unknown no_acknowledgement");
  EXPECT_EQ(b.halts, 0);
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, WithoutAcksAFrameThatOutlivesItsDeadlineIsAnsweredOnce) {
  auto with = quick();
  with.idempotent = false;
  with.required_acks = acks::none;
  partition_bench b(with);
  b.leader(1);
  b.produce(1);
  batch* stuck = b.send();

  b.advance(10s);
  b.core->never_answered(*stuck, b.now);

  EXPECT_EQ(b.told(0), "unknown delivery_timeout");
}

// When a batch is due

TEST(PartitionCore, LingersUntilTheBatchIsFullOrTheTimeIsOver) {
  auto with = quick();
  with.linger = 50ms;
  partition_bench b(with);
  b.started();

  b.produce(1);
  EXPECT_EQ(b.timer, b.now + 50ms);
  b.advance(49ms);
  EXPECT_EQ(b.send(), nullptr);
  b.advance(1ms);
  EXPECT_TRUE(b.is_ready);
  b.deliver(b.send(), 0);
  b.produce(2);

  EXPECT_TRUE(b.is_ready) << "a full batch does not wait";
  b.deliver(b.send(), 1);
}

TEST(PartitionCore, AFlushEndsTheLingeringOfWhatCameBeforeIt) {
  auto with = quick();
  with.linger = 1s;
  partition_bench b(with);
  b.started();
  b.produce(1);

  auto& flush = b.flush();
  batch* sent = b.send();
  ASSERT_NE(sent, nullptr);
  EXPECT_FALSE(flush.done);
  b.produce(1);
  b.deliver(sent, 0);

  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, (tally{.delivered = 1}));
  EXPECT_EQ(b.send(), nullptr) << "what came behind it lingers";
}

TEST(PartitionCore, AFlushOfNothingIsDoneAtOnce) {
  partition_bench b(quick());
  b.started();

  EXPECT_TRUE(b.flush().done);
}

TEST(PartitionCore, AFlushCountsOnlyItsOwnPartOfABatch) {
  partition_bench b(quick());
  b.started();
  b.produce(1);
  auto& flush = b.flush();
  b.produce(1);  // into the same batch

  batch* sent = b.send();
  ASSERT_EQ(sent->count(), 2U);
  b.deliver(sent, 0);

  EXPECT_EQ(flush.barrier.answered.total(), 1U);
  EXPECT_TRUE(flush.done);
}

TEST(PartitionCore, AnIdlePartitionHasNoTimer) {
  partition_bench b(quick());
  b.started();
  b.produce(1);
  EXPECT_EQ(b.timer, b.now + 10s);

  b.deliver(b.send(), 0);

  EXPECT_EQ(b.timer, std::nullopt);
}

// Pausing

TEST(PartitionCore, APauseHoldsRecordsAndRetriesUntilTheResume) {
  partition_bench b(quick());
  b.started();
  b.produce(2);
  batch* sent = b.send();

  b.pause();
  b.answer(sent, 19);
  b.produce(2);
  b.advance(2s);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.status().state, partition_state::paused);
  b.resume();

  EXPECT_TRUE(b.is_ready);
  EXPECT_EQ(b.send(), sent);
  b.deliver(sent, 0);
  b.deliver(b.send(), 2);
}

TEST(PartitionCore, AbortBufferedAnswersInOrderWhatWasNeverSent) {
  partition_bench b(quick());
  b.started();
  b.produce(5);
  batch* sent = b.send();

  b.pause(pause_mode::abort_buffered);

  EXPECT_EQ(b.told(0), "");
  EXPECT_EQ(b.events, (std::vector<std::string>{"sent 0 0.0", "2 not_written aborted",
                                                "3 not_written aborted", "4 not_written aborted"}));
  EXPECT_EQ(b.halts, 0) << "a caller's own decision";
  b.resume();
  b.deliver(sent, 0);
  b.produce(1);
  batch* next = b.send();
  EXPECT_EQ(partition_bench::tuple_of(*next), "0.2");
  b.deliver(next, 2);
}

// Producer ids

TEST(PartitionCore, ARefusedIdFailsTheOldestAndHoldsTheRest) {
  partition_bench b(quick());
  b.leader(1);
  b.produce(4);

  b.core->producer_id_refused(broker_errc::cluster_authorization_failed, b.now);
  b.core->settle(b.now);

  EXPECT_EQ(b.told(1), "not_written kafka:31");
  EXPECT_EQ(b.told(2), "");
  EXPECT_EQ(b.ids_asked, 1) << "nothing may pass, so no id is needed";
  b.recover(recovery::discard);
  EXPECT_EQ(b.ids_asked, 2);
  b.grant(1);
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(2), "delivered@0");
}

TEST(PartitionCore, ARefusedIdFailsEverythingWhereFailuresAreSkipped) {
  auto with = quick();
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.leader(1);
  b.produce(4);

  b.core->producer_id_refused(broker_errc::cluster_authorization_failed, b.now);

  EXPECT_EQ(b.told(3), "not_written kafka:31");
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, ARefusedIdAlsoFailsWhatIsProvenUnwritten) {
  auto with = quick();
  with.new_producer_id_on_bump = true;
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.started();
  b.produce(2);
  b.answer(b.send(), 45);
  EXPECT_EQ(b.ids_asked, 1);

  b.core->producer_id_refused(broker_errc::cluster_authorization_failed, b.now);

  EXPECT_EQ(b.told(0), "not_written kafka:31");
}

TEST(PartitionCore, AtTheLastEpochANewIdIsAskedFor) {
  auto with = quick();
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.leader(1);
  b.produce(4);
  b.grant(4242, 32767);

  batch* sent = b.send();
  EXPECT_EQ(sent->tuple(), (wire::batch_stamp{4242, 32767, 0}));
  b.answer(sent, 87);
  EXPECT_EQ(b.ids_asked, 1);
  EXPECT_EQ(b.send(), nullptr);
  b.grant(4243);

  batch* next = b.send();
  EXPECT_EQ(next->tuple(), (wire::batch_stamp{4243, 0, 0}));
  EXPECT_EQ(numbers_in(*next), (numbers{2, 3}));
  b.deliver(next, 0);
}

TEST(PartitionCore, AnIdGrantedTwiceIsRefusedBeforeTheWrite) {
  auto with = quick();
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.leader(1);
  b.produce(6);
  b.grant(4242, 32767);
  b.answer(b.send(), 87);

  b.grant(4242, 0);  // KAFKA-15552: the cluster hands out the same id again
  EXPECT_EQ(b.send(), nullptr);

  EXPECT_EQ(b.contradictions, 1);
  EXPECT_EQ(b.told(2), "unknown invariant_broken");
  EXPECT_EQ(b.status().state, partition_state::halted) << "whatever the policy";
  b.recover(recovery::resubmit);
  EXPECT_EQ(b.ids_asked, 1);
  b.grant(4243);
  b.deliver(b.send(), 0);
  EXPECT_EQ(b.told(4), "delivered@0");
}

TEST(PartitionCore, RepeatedRefusalsOfTheNumberingAskForANewId) {
  partition_bench b(quick());
  b.started();
  b.produce(2);

  for (int i = 0; i < 2; ++i) {
    b.answer(b.send(), 45);
    EXPECT_EQ(b.ids_asked, 0) << i;
    b.advance(2s);
  }
  b.answer(b.send(), 45);

  EXPECT_EQ(b.ids_asked, 1);
  b.advance(2s);
  b.grant(5000);
  batch* sent = b.send();
  EXPECT_EQ(sent->tuple(), (wire::batch_stamp{5000, 0, 0}));
  b.deliver(sent, 0);
}

// A resubmitted record begins its time anew; found by the histories, which were answered late.
TEST(PartitionCore, WhatLiesBehindAResubmittedRecordThatCameBackEndsInTime) {
  auto with = quick();
  with.while_halted = while_halted::hold;
  with.batch_records_max = 1;
  partition_bench b(with);
  b.started();
  b.produce();
  b.answer(b.send(), 87);
  b.produce();
  b.advance(1s);
  b.produce();
  b.advance(4s);
  b.recover(recovery::resubmit);
  batch* again = b.send();
  b.advance(5s);
  EXPECT_EQ(b.told(1).substr(0, 28), "not_written delivery_timeout");
  b.answer(again, 45);  // numbered anew, when the pause is over
  b.pause();

  b.advance(1s);

  EXPECT_EQ(b.told(2).substr(0, 28), "not_written delivery_timeout");
}

// The end

TEST(PartitionCore, CloseAnswersEverythingOnceInOrder) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(9);
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 5U);
  b.answer(sent[0], 19);  // proven unwritten
  b.lose(sent[1]);        // in doubt
  b.deliver(sent[2], 5);  // waits for the older ones

  close_command command;
  b.close(&command);

  EXPECT_EQ(b.told(1), "not_written closed (kafka:19)");
  EXPECT_EQ(b.told(3), "unknown closed (answer_lost)");
  EXPECT_EQ(b.told(5), "delivered@5");
  EXPECT_EQ(b.told(7), "unknown closed");
  EXPECT_EQ(b.told(9), "unknown closed");
  EXPECT_EQ(b.answered(), 10U);
  ASSERT_EQ(command.unsent.size(), 2U) << "what is proven unwritten is handed back";
  EXPECT_EQ(command.unsent[0].value, "1");
  EXPECT_EQ(command.unsent[1].value, "2");
  b.deliver(sent[3], 7);
  b.lose(sent[4], false);
  EXPECT_EQ(b.ids_asked, 0);
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
  b.produce(1);
  EXPECT_EQ(b.told(10), "not_written closed");
}

TEST(PartitionCore, CloseHandsUnsentRecordsBack) {
  partition_bench b(quick());
  b.started();
  b.produce(5);
  batch* sent = b.send();

  close_command command;
  b.close(&command);
  b.close();

  ASSERT_EQ(command.unsent.size(), 3U);
  EXPECT_EQ(command.unsent[0].value, "2");
  EXPECT_EQ(command.unsent[2].value, "4");
  EXPECT_EQ(b.told(0), "unknown closed");
  EXPECT_EQ(b.told(4), "not_written closed");
  b.lose(sent);
}

TEST(PartitionCore, CloseEndsFlushesAndRecoveries) {
  partition_bench b(quick());
  b.started().establish();
  b.produce(4);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  auto& recovery = b.recover(partita::recovery::resubmit);
  b.produce(1);
  auto& flush = b.flush();
  EXPECT_FALSE(recovery.done);

  b.close();

  EXPECT_TRUE(recovery.done);
  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered, (tally{.not_written = 1, .unknown = 2}));
  b.deliver(sent[1], 3);
  EXPECT_EQ(b.told(3), "unknown closed");
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
}

TEST(PartitionCore, CloseAfterAFenceBeganDoesNotAskForAnId) {
  partition_bench b(quick());
  b.leader(1);
  b.produce(4);
  b.grant(4242, 32767);
  batch* sent = b.send();
  b.advance(10s);

  b.close();
  b.lose(sent);

  EXPECT_EQ(b.ids_asked, 0);
  EXPECT_EQ(b.answered(), 4U);
}

}  // namespace
}  // namespace partita::actors
