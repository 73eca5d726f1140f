// What is in doubt is looked for in the log: before it is sent again where the broker may have
// forgotten it (L10), and behind the tickets of what was answered unknown.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::numbers_in;
using testing::partition_bench;
using numbers = std::vector<int>;

partition_settings settings(failure_policy policy = failure_policy::skip) {
  auto with = partition_bench::quick();
  with.on_failure = policy;
  return with;
}

/// A record is delivered at offset 10; two more, 1 and 2, are in doubt and refused for their
/// number.
void refuse_in_doubt(partition_bench& b, broker_errc doubt = broker_errc::request_timed_out) {
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), doubt, 11);
  b.advance(1s);
  b.answer(b.send(), 45);
}

/// Two records, whose frame may still be executed.
void lose_two(partition_bench& b) {
  b.started().establish(10);
  b.produce(2);
  b.lose(b.send());
}

/// One record that is older than the horizon, in the same state.
void lose_a_back_dated_one(partition_bench& b) {
  b.produce_at(b.now, 2h);
  b.lose(b.send());
}

// L10 b

TEST(Settling, DUP_04_WhatIsFoundIsDeliveredThere) {
  partition_bench b(settings());
  refuse_in_doubt(b);
  EXPECT_EQ(b.status().state, partition_state::settling);
  EXPECT_EQ(b.looked_for(), "0.1 from 11");
  b.advance(1s);
  EXPECT_EQ(b.send(), nullptr) << "not before the log was read";

  b.log_holds({11});

  EXPECT_EQ(b.told(1), "delivered@11");
  EXPECT_EQ(b.told(2), "delivered@12");
  EXPECT_EQ(b.status().last_offset, offset(12));
  b.produce(1);
  EXPECT_EQ(partition_bench::tuple_of(*b.send()), "0.3") << "the epoch goes on";
  b.end();
}

TEST(Settling, WhatIsProvenAbsentIsRenumbered) {
  partition_bench b(settings());
  refuse_in_doubt(b);

  b.log_is_silent();

  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(partition_bench::tuple_of(*again), "1.0");
  EXPECT_EQ(numbers_in(*again), (numbers{1, 2}));
  b.deliver(again, 11);
  EXPECT_EQ(b.told(1), "delivered@11");
  EXPECT_EQ(b.status().epoch_bumps, 1U);
  b.end();
}

TEST(Settling, AProvenAbsentBatchThatFailsIsNotWritten) {
  partition_bench b(settings());
  refuse_in_doubt(b);
  b.log_is_silent();
  b.answer(b.send(), 87);
  EXPECT_EQ(b.told(1), "not_written kafka:87");
  b.end();
}

TEST(Settling, ALatecomerIsNotProvenAbsentByTheLog) {
  partition_bench b(settings());
  lose_two(b);  // the frame may still be executed
  b.advance(1s);
  b.answer(b.send(), 45);

  b.log_is_silent();
  b.advance(1s);

  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.1") << "the same numbers, or a newer record "
                                                         "would hide which of the two was written";
  b.answer(again, 45);
  EXPECT_EQ(b.looked_for(), "0.1 from 11") << "it is looked for again before each retry";
  b.advance(10s);
  EXPECT_EQ(b.told(1), "unknown delivery_timeout (kafka:45)");
  b.end();
}

// It may lie in the tail of a leader that was cut off, and that leads again before it has heard of
// the other. What is committed in a younger epoch shuts that out.
TEST(Settling, WhatAFormerLeaderMayHaveIsNotProvenAbsentByTheLogOfTheNext) {
  for (const bool committed : {false, true}) {
    partition_bench b(settings());
    b.started().establish(10);
    b.produce(2);
    b.answer(b.send(), broker_errc::request_timed_out, 11);
    b.leader(2, 2);
    b.log_is_silent();
    b.advance(1s);
    b.answer(b.send(), 45);

    b.log_shows_epoch = committed;
    b.log_is_silent();
    b.advance(1s);

    batch* again = b.send();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(partition_bench::tuple_of(*again), committed ? "1.0" : "0.1");
    b.deliver(again, 11);
    EXPECT_EQ(b.told(1), "delivered@11");
    b.end();
  }
}

TEST(Settling, AnInterruptedSearchIsTriedAgainUntilTheDeadline) {
  partition_bench b(settings());
  refuse_in_doubt(b);
  for (int i = 0; i < 3; ++i) {
    b.log_is_silent(search_end::interrupted, broker_errc::not_leader_or_follower);
    EXPECT_EQ(b.looked_for(), "") << "not at once";
    b.advance(1s);
    EXPECT_EQ(b.looked_for(), "0.1 from 11");
    EXPECT_EQ(b.send(), nullptr);
  }
  EXPECT_GT(b.refreshes, 0);
  b.advance(10s);
  EXPECT_EQ(b.told(1), "unknown delivery_timeout (kafka:45)");
  b.end();
}

TEST(Settling, SEQ_20_TwoInDoubtAfterARestart) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(4);
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 2U);
  b.lose(sent[0]);
  b.lose(sent[1]);
  b.reconnect();
  b.advance(1s);
  b.answer(b.send(), 45);  // the broker remembers the last batch only
  EXPECT_EQ(b.looked_for(), "0.1 0.3 from 11");
  ASSERT_TRUE(b.look->anchor) << "by which the log is recognised";
  EXPECT_EQ(b.look->anchor->at, offset(10));
  EXPECT_EQ(b.look->anchor->stamp.base, sequence(0));

  b.log_holds({11, 13});

  EXPECT_EQ(b.told(1), "delivered@11");
  EXPECT_EQ(b.told(4), "delivered@14");
  EXPECT_EQ(b.status().epoch_bumps, 0U);
  b.end();
}

TEST(Settling, AnOlderOneThatIsAbsentDoesNotGoBehindAYoungerOneThatIsThere) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(4);
  const auto sent = b.send_all();
  b.answer(sent[0], broker_errc::request_timed_out, 11);
  b.answer(sent[1], broker_errc::request_timed_out, 13);
  b.advance(1s);
  b.answer(b.send(), 45);

  b.log_holds({std::nullopt, 11});

  EXPECT_EQ(b.told(1), "not_written epoch_given_up (kafka:45)");
  EXPECT_EQ(b.told(3), "delivered@11");
  b.end();
}

TEST(Settling, AnOffsetThatContradictsWhatWasAcknowledgedIsNoSuccess) {
  partition_bench b(settings());
  refuse_in_doubt(b);
  b.log_holds({10});
  EXPECT_EQ(b.contradictions, 1);
  EXPECT_EQ(b.told(1), "unknown invariant_broken (kafka:45)");
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.end();
}

TEST(Settling, WhatTheOldLeadersLogSaidDoesNotHoldForTheNew) {
  partition_bench b(settings());
  refuse_in_doubt(b);
  const auto old_question = b.look;
  b.leader(2, 2);
  ASSERT_TRUE(b.look);
  EXPECT_NE(b.look->token, old_question->token);
  EXPECT_EQ(b.look->epoch, leader_epoch(2));

  const auto newer = b.look;
  b.look = old_question;
  b.log_is_silent();
  EXPECT_EQ(b.send(), nullptr) << "an answer to the question before";
  b.look = newer;
  b.log_holds({11});
  EXPECT_EQ(b.told(1), "delivered@11");
  b.end();
}

// L10 c

TEST(Settling, SEQ_21_ABackDatedBatchIsLookedForBeforeItIsSentAgain) {
  partition_bench b(settings());
  b.started();
  lose_a_back_dated_one(b);
  b.reconnect();
  b.advance(2s);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.looked_for(), "0.0 from -1")
      << "nothing was acknowledged: where it lies is not known";

  b.log_is_silent();
  batch* again = b.send();
  ASSERT_NE(again, nullptr) << "at once: reading took the time of the backoff";
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.0");
  b.lose(again);
  b.advance(2s);
  EXPECT_EQ(b.send(), nullptr) << "looked for before each retry";
  b.log_holds({7});

  EXPECT_EQ(b.told(0), "delivered@7");
  b.end();
}

TEST(Settling, ABackDatedBatchThatIsFoundLetsOnlyOneOutBehindIt) {
  partition_bench b(settings());
  b.started().establish();
  b.produce_at(b.now, 2h);
  b.produce_at(b.now, 2h);
  b.answer(b.send(), -1);
  b.advance(2s);
  EXPECT_EQ(b.send(), nullptr);
  b.log_holds({1});
  EXPECT_EQ(b.told(1), "delivered@1");

  b.produce(4);
  batch* first = b.send();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(b.send(), nullptr) << "what the broker knows of it may be forgotten already";
  b.deliver(first, 3);
  b.deliver(b.send(), 5);
  b.end();
}

TEST(Settling, SEQ_21_d_ABatchGrowsOldWhileItWaits) {
  auto with = settings();
  with.delivery_timeout = 5h;
  partition_bench b(with);
  b.started();
  b.produce(2);
  b.lose(b.send());
  b.core->set_leader(broker_id(), 1, b.now);
  b.advance(2h);
  b.leader(1, 2);
  EXPECT_EQ(b.send(), nullptr) << "older than the horizon by now";
  b.log_holds({0});
  EXPECT_EQ(b.told(0), "delivered@0");
  b.end();
}

TEST(Settling, ADenialIsRememberedForAWhile) {
  partition_bench b(settings());
  b.started();
  lose_a_back_dated_one(b);
  b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);
  EXPECT_EQ(b.told(0), "unknown answer_lost (log_not_readable)");

  lose_a_back_dated_one(b);
  EXPECT_EQ(b.told(1), "unknown answer_lost (log_not_readable)");
  EXPECT_EQ(b.looks, 1);

  b.advance(5min);
  lose_a_back_dated_one(b);
  EXPECT_EQ(b.looks, 2);
  b.end();
}

// A retry that can not get through

TEST(Settling, ABlockedRetryIsLookedFor) {
  partition_bench b(settings());
  lose_two(b);
  b.reconnect();
  b.advance(1s);
  b.answer(b.send(), 10);  // the topic's limit was lowered meanwhile
  EXPECT_EQ(b.looked_for(), "0.1 from 11");

  b.log_holds({11});

  EXPECT_EQ(b.told(1), "delivered@11");
  b.end();
}

TEST(Settling, ABlockedRetryThatIsProvenAbsentFails) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), broker_errc::unknown_server_error);
  b.advance(1s);
  b.answer(b.send(), 87);
  b.log_is_silent();
  EXPECT_EQ(b.told(1), "not_written kafka:87");
  b.end();
}

TEST(Settling, ABlockedRetryIsRepeatedWhereTheLogDoesNotTell) {
  partition_bench b(settings());
  lose_two(b);
  b.reconnect();
  b.advance(1s);
  b.answer(b.send(), 10);
  b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);
  b.advance(2s);
  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  b.deliver(again, 11);
  EXPECT_EQ(b.told(1), "delivered@11");
  b.end();
}

TEST(Settling, CORE_08_AMissingPermissionIsNotWorthALook) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), broker_errc::request_timed_out, 11);
  b.advance(1s);
  b.answer(b.send(), 29);
  EXPECT_EQ(b.looked_for(), "");
  b.end();
}

// A look answers in no time: what is refused and looked for in turn must not leave out the backoff
// (40,000 requests a second, seen against a broker with code 87).
TEST(Settling, WhatIsRefusedAndLookedForInTurnKeepsItsBackoff) {
  struct situation {
    const char* name;
    int code;
    bool moved;
    std::chrono::milliseconds age;
  };
  for (const situation& each :
       {situation{"a lasting refusal", 87, false, 0h}, situation{"the leader moved", 19, true, 0h},
        situation{"older than the horizon", 6, false, 2h}}) {
    SCOPED_TRACE(each.name);
    partition_bench b(settings());
    b.started().establish(10);
    b.produce_at(b.now, each.age);
    b.lose(b.send());
    b.reconnect();
    if (each.moved) b.leader(2, 2);
    const instant begin = b.now;
    int attempts = 0;
    while (b.now < begin + 5s) {
      if (b.look) b.log_is_silent();
      if (batch* again = b.send()) {
        ++attempts;
        b.answer(again, each.code);
      } else {
        b.advance(1ms);
      }
      ASSERT_LT(attempts, 60);
    }
    EXPECT_GE(attempts, 4) << "it is tried until the deadline";
    b.advance(6s);
    EXPECT_EQ(b.told(1).substr(0, 25), "unknown delivery_timeout ");
    b.end();
  }
}

// Another leader

TEST(Settling, SEQ_20_b_ANewLeaderIsAskedForTheLogFirst) {
  partition_bench b(settings());
  lose_two(b);
  b.leader(2, 2);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.looked_for(), "0.1 from 11");
  b.log_holds({11});
  EXPECT_EQ(b.told(1), "delivered@11");
  b.end();
}

TEST(Settling, ANewLeaderThatDoesNotTellIsWrittenToAfterAMoment) {
  for (const bool answers : {true, false}) {
    partition_bench b(settings());
    lose_two(b);
    b.leader(2, 2);
    EXPECT_EQ(b.send(), nullptr);
    if (answers)
      b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);
    else
      b.advance(b.settings.retry_backoff_max);
    batch* again = b.send();
    ASSERT_NE(again, nullptr) << answers;
    b.deliver(again, 11);
    EXPECT_EQ(b.told(1), "delivered@11");
    b.end();
  }
}

TEST(Settling, WhatWasReadBeforeARetrySaysNothingAboutTheRetry) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), broker_errc::request_timed_out, 11);
  b.leader(2, 2);
  ASSERT_TRUE(b.look);
  b.advance(b.settings.retry_backoff_max);  // the log of the new leader does not answer
  b.answer(b.send(), broker_errc::request_timed_out, 11);

  b.log_is_silent();  // as it was before the retry

  EXPECT_EQ(b.status().batches_in_doubt, 1);
  b.advance(1s);
  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.1");
  b.end();
}

TEST(Settling, ALeaderThatRefusedBeforeItAppendedNeedsNoLook) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), 6);
  b.leader(2, 2);
  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  b.deliver(again, 11);
  EXPECT_EQ(b.looks, 0);
  b.end();
}

// Tickets

/// Records 1 and 2 ended unknown; the partition is empty again.
void end_unknown(partition_bench& b) {
  lose_two(b);
  b.reconnect();
  b.pause();
  b.advance(10s);
  b.resume();
  ASSERT_EQ(b.told(1), "unknown delivery_timeout (answer_lost)");
}

TEST(Settling, TIME_24_ATicketIsSettledByTheLogUpToTheFence) {
  for (const bool written : {true, false}) {
    partition_bench b(settings());
    end_unknown(b);
    auto& second = b.settle(b.tickets[2]);
    EXPECT_EQ(b.looks, 0) << "nothing newer is there yet";
    b.produce(1);
    b.deliver(b.send(), 20);
    EXPECT_EQ(b.looked_for(), "0.1 from 11 to 1.0@20");

    b.log_holds({written ? std::optional<std::int64_t>(14) : std::nullopt});

    EXPECT_EQ(second.verdict, written ? "delivered@15" : "never_written");
    auto& first = b.settle(b.tickets[1]);
    EXPECT_EQ(first.verdict, written ? "delivered@14" : "never_written") << "known by now";
    EXPECT_EQ(b.looks, 1);
    b.end();
  }
}

TEST(Settling, WithoutAFenceTheLogCanOnlyShowThatItIsThere) {
  partition_bench b(settings());
  end_unknown(b);
  auto& run = b.settle(b.tickets[1]);
  b.advance(1s);
  EXPECT_EQ(b.looked_for(), "0.1 from 11");
  b.log_is_silent();
  EXPECT_EQ(run.verdict, "") << "a latecomer may still come";
  b.advance(1s);
  EXPECT_EQ(b.looked_for(), "") << "less and less often";
  b.advance(1s);
  b.log_holds({11});
  EXPECT_EQ(run.verdict, "delivered@11");
  b.end();
}

TEST(Settling, WithoutALatecomerTheLogsEndProvesAbsence) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), broker_errc::unknown_server_error);
  b.pause();
  b.advance(10s);
  auto& run = b.settle(b.tickets[1]);
  b.advance(1s);
  b.log_is_silent();
  EXPECT_EQ(run.verdict, "never_written");
  b.end();
}

TEST(Settling, ATicketWaitsWhereAFormerLeaderMayLeadAgain) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), broker_errc::unknown_server_error);
  b.pause();
  b.advance(10s);
  b.leader(2, 2);
  auto& run = b.settle(b.tickets[1]);
  b.advance(1s);
  b.log_is_silent();
  EXPECT_EQ(run.verdict, "");
  b.advance(2s);
  b.log_shows_epoch = true;
  b.log_is_silent();
  EXPECT_EQ(run.verdict, "never_written");
  b.end();
}

TEST(Settling, TIME_11_ALateAnswerSettlesATicket) {
  partition_bench b(settings());
  b.started().establish(10);
  b.produce(2);
  batch* sent = b.send();
  b.advance(10s);
  ASSERT_EQ(b.told(1), "unknown delivery_timeout");
  auto& run = b.settle(b.tickets[2]);
  b.deliver(sent, 11);
  EXPECT_EQ(run.verdict, "delivered@12");
  b.end();
}

TEST(Settling, TIME_11_ALateRefusalSettlesATicket) {
  for (const bool answered : {true, false}) {
    partition_bench b(settings());
    b.started().establish(10);
    b.produce(2);
    batch* sent = b.send();
    b.advance(10s);
    ASSERT_EQ(b.told(1), "unknown delivery_timeout");
    auto& run = b.settle(b.tickets[2]);
    if (answered)
      b.answer(sent, broker_errc::not_enough_replicas);
    else
      b.lose(sent, false);
    EXPECT_EQ(run.verdict, "never_written");
    b.end();
  }
}

TEST(Settling, ALateRefusalDoesNotEndEarlierDoubt) {
  partition_bench b(settings());
  lose_two(b);
  b.reconnect();
  b.advance(1s);
  batch* again = b.send();
  b.advance(10s);
  auto& run = b.settle(b.tickets[1]);
  b.answer(again, broker_errc::not_enough_replicas);
  EXPECT_EQ(run.verdict, "");
  b.end();
}

TEST(Settling, WhatIsSubmittedAgainRemembersAnAttemptThatWasLostAfterItsDeadline) {
  partition_bench b(settings(failure_policy::halt_partition));
  b.started().establish(10);
  b.produce(2);
  batch* sent = b.send();
  b.advance(10s);
  ASSERT_EQ(b.told(1), "unknown delivery_timeout");
  b.lose(sent);
  b.reconnect();
  b.recover(recovery::resubmit);
  b.answer(b.send(), 45);
  EXPECT_EQ(b.looked_for(), "0.1 from 11");

  b.log_is_silent();
  b.advance(1s);

  batch* again = b.send();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(partition_bench::tuple_of(*again), "0.1") << "its first frame may still be executed";
  b.deliver(again, 11);
  b.end();
}

// Cancelled records

/// Records 1 and 2 are sent together, and 1 is cancelled.
batch* cancel_one_of_two(partition_bench& b) {
  b.started().establish(10);
  b.produce_own();
  b.produce_own();
  batch* sent = b.send();
  b.cancel({1});
  return sent;
}

TEST(Settling, WhatWasReadBeforeARecoverySaysNothingAboutItsAttempt) {
  partition_bench b(settings(failure_policy::halt_partition));
  b.started().establish(10);
  b.produce(2);
  b.answer(b.send(), broker_errc::unknown_server_error);
  b.pause();
  b.advance(10s);
  b.resume();
  auto& run = b.settle(b.tickets[1]);
  b.advance(1s);
  ASSERT_EQ(b.looked_for(), "0.1 from 11");
  const log_findings before{b.look->token, search_end::decided, {std::nullopt}, {}, {}};

  b.recover(recovery::resubmit);
  b.answer(b.send(), broker_errc::request_timed_out);
  b.pause();
  b.advance(10s);
  b.core->looked(before, b.now);

  EXPECT_EQ(run.verdict, "");
  b.look.reset();
  b.end();
}

TEST(Settling, TIME_04_ACancelledRecordIsSettledByItsBatch) {
  partition_bench b(settings());
  batch* sent = cancel_one_of_two(b);
  ASSERT_EQ(b.told(1), "unknown cancelled");
  auto& run = b.settle(b.tickets[1]);
  EXPECT_EQ(run.verdict, "") << "its batch is still under way";
  b.advance(5s);
  EXPECT_EQ(b.looks, 0);
  b.deliver(sent, 11);
  EXPECT_EQ(run.verdict, "delivered@11");
  EXPECT_EQ(b.told(2), "delivered@12");
  b.end();
}

TEST(Settling, ACancelledRecordIsNotSentUnderOtherNumbers) {
  partition_bench b(settings());
  b.answer(cancel_one_of_two(b), broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(b.settle(b.tickets[1]).verdict, "never_written");
  b.advance(1s);
  EXPECT_EQ(numbers_in(*b.send()), (numbers{2}));
  b.end();
}

TEST(Settling, ACancelledRecordIsNotSentAgainByAFailureHandler) {
  auto with = settings();
  with.has_failure_handler = true;
  partition_bench b(with);
  b.judge = [](const failure_case&) { return failure_verdict::retry; };
  b.answer(cancel_one_of_two(b), broker_errc::topic_authorization_failed);
  EXPECT_EQ(b.settle(b.tickets[1]).verdict, "never_written");
  b.advance(1s);
  EXPECT_EQ(numbers_in(*b.send()), (numbers{2}));
  b.end();
}

TEST(Settling, ACancelledRecordIsNotSentAgainWithoutTheRecordAtFault) {
  auto with = settings();
  with.batch_records_max = 3;
  partition_bench b(with);
  b.started().establish(10);
  for (int i = 0; i < 3; ++i) b.produce_own();
  batch* sent = b.send();
  b.cancel({1});
  sent->faults = {{1, "it has no key"}};
  b.answer(sent, broker_errc::invalid_record);
  EXPECT_EQ(b.told(2), "not_written kafka:87");
  EXPECT_EQ(b.settle(b.tickets[1]).verdict, "never_written");
  EXPECT_EQ(numbers_in(*b.send()), (numbers{3}));
  b.end();
}

TEST(Settling, TicketsThatWereDroppedTooEarlyAreGivenAnew) {
  auto with = settings();
  with.ticket_records_max = 2;
  partition_bench b(with);
  batch* first = cancel_one_of_two(b);
  b.deliver(first, 11);
  for (int i = 0; i < 4; ++i) b.produce_own();
  batch* older = b.send();
  batch* younger = b.send();
  b.cancel({3});
  b.cancel({5});
  EXPECT_EQ(b.settle(b.tickets[3]).verdict, "undecidable ticket_expired");
  b.advance(10s);
  ASSERT_EQ(b.told(4), "unknown delivery_timeout");
  auto& run = b.settle(b.tickets[4]);
  EXPECT_EQ(run.verdict, "undecidable ticket_expired") << "the younger batch made it go again";
  auto& last = b.settle(b.tickets[6]);
  b.deliver(older, 13);
  b.deliver(younger, 15);
  EXPECT_EQ(last.verdict, "delivered@16");
  b.end();
}

TEST(Settling, AnUnknownHeadOfAHaltedPartitionIsSettledUnasked) {
  partition_bench b(settings(failure_policy::halt_partition));
  end_unknown(b);
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.advance(1s);
  EXPECT_EQ(b.looked_for(), "0.1 from 11");
  b.log_holds({11});
  EXPECT_LT(b.place_of("settled 1"), b.events.size());
  EXPECT_EQ(b.send(), nullptr) << "it stays halted until recover()";
  EXPECT_EQ(b.settle(b.tickets[1]).verdict, "delivered@11");
  b.end();
}

TEST(Settling, AfterANewProducerIdThereIsNoFence) {
  auto with = settings();
  with.new_producer_id_on_bump = true;
  partition_bench b(with);
  end_unknown(b);
  b.grant(4243);
  auto& run = b.settle(b.tickets[1]);
  b.produce(1);
  b.deliver(b.send(), 20);
  b.advance(1s);
  EXPECT_EQ(b.looked_for(), "0.1 from 11");
  b.log_is_silent();
  EXPECT_EQ(run.verdict, "undecidable not_fenced");
  b.end();
}

TEST(Settling, WhatCanNotBeReadIsUndecidable) {
  partition_bench b(settings());
  end_unknown(b);
  auto& run = b.settle(b.tickets[1]);
  b.produce(1);
  b.deliver(b.send(), 20);
  b.log_is_silent(search_end::undecidable, client_errc::log_not_readable);
  EXPECT_EQ(run.verdict, "undecidable log_not_readable");
  EXPECT_EQ(b.settle(b.tickets[2]).verdict, "undecidable log_not_readable");
  b.end();
}

TEST(Settling, TicketsAreKeptForAWhile) {
  auto with = settings();
  with.ticket_retention = 60s;
  partition_bench b(with);
  end_unknown(b);
  EXPECT_EQ(b.status().tickets_kept, 2U);
  auto& run = b.settle(b.tickets[1]);
  b.leader(0, 5);
  b.core->set_leader(broker_id(), 6, b.now);
  b.advance(60s);
  EXPECT_EQ(run.verdict, "undecidable ticket_expired");
  EXPECT_EQ(b.settle(b.tickets[2]).verdict, "undecidable ticket_expired");
  EXPECT_EQ(b.forgotten_tickets, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(b.status().tickets_kept, 0U);
  b.end();
}

TEST(Settling, TheOldestTicketsMakeRoom) {
  auto with = settings();
  with.ticket_records_max = 3;
  partition_bench b(with);
  end_unknown(b);
  auto& first = b.settle(b.tickets[1]);
  b.produce(2);
  b.lose(b.send());
  b.reconnect();
  b.pause();
  b.advance(10s);
  EXPECT_EQ(first.verdict, "undecidable ticket_expired");
  EXPECT_EQ(b.status().tickets_kept, 2U);
  EXPECT_EQ(b.settle(b.tickets[3]).verdict, "");
  b.end();
}

TEST(Settling, TheEndOfTheProducerAnswersWhoWaits) {
  partition_bench b(settings());
  end_unknown(b);
  auto& run = b.settle(b.tickets[1]);
  b.close();
  EXPECT_EQ(run.verdict, "undecidable closed");
  EXPECT_EQ(b.settle(b.tickets[2]).verdict, "undecidable closed");
  b.end();
}

TEST(Settling, ARecreatedTopicSettlesNothing) {
  partition_bench b(settings());
  end_unknown(b);
  auto& run = b.settle(b.tickets[1]);
  b.core->new_incarnation(b.now);
  EXPECT_EQ(run.verdict, "undecidable log_changed");
  b.end();
}

}  // namespace
}  // namespace partita::actors
