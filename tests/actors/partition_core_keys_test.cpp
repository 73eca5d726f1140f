// Halted keys: what passes, what is held, and what recover() does with one key.
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

partition_settings by_key(while_halted then = while_halted::refuse) {
  auto with = partition_bench::quick();
  with.on_failure = failure_policy::halt_key;
  with.while_halted = then;
  with.batch_records_max = 1;
  return with;
}

/// Everything that may be sent, one after the other, is delivered; returns the record numbers.
numbers deliver_all(partition_bench& b, std::int64_t at = 0) {
  numbers log;
  b.advance(1s);
  while (batch* next = b.send()) {
    for (const int each : numbers_in(*next)) log.push_back(each);
    b.deliver(next, at);
    at += static_cast<std::int64_t>(next == nullptr ? 0 : 1);
  }
  return log;
}

std::vector<std::string> values_of(const recovery_report& report) {
  std::vector<std::string> values;
  for (const taken_record& each : report.taken) values.push_back(*each.record.value);
  return values;
}

/// 0 (k1) is refused for good; 1 (k2) and 2 (k1) lie behind it.
void halt_k1(partition_bench& b) {
  b.started();
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_keyed("k1");
  b.answer(b.send(), 87);
}

TEST(PartitionCore, CORE_26_OnlyTheKeyOfTheFailedRecordStops) {
  partition_bench b(by_key(while_halted::hold));
  b.started().establish();
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_keyed("k1");
  const auto sent = b.send_all();
  ASSERT_EQ(sent.size(), 3U);
  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  b.answer(sent[2], 45);
  EXPECT_EQ(b.told(1), "not_written kafka:87");

  b.produce_keyed("k1");
  b.produce_keyed("k2");

  EXPECT_EQ(deliver_all(b, 1), (numbers{2, 5})) << "the other key";
  EXPECT_EQ(b.status().halted_keys, 1U);
  EXPECT_EQ(b.status().some_halted_keys.at(0).key, "k1");
  EXPECT_EQ(b.status().held_records, 2U);
  EXPECT_EQ(b.status().state, partition_state::normal);
  auto& run = b.recover_key("k1", recovery::resubmit);
  EXPECT_EQ(deliver_all(b, 3), (numbers{1, 3, 4})) << "the failed one first";
  EXPECT_EQ(run.resubmitted, (texts{"delivered@3"}));
  EXPECT_EQ(b.status().halted_keys, 0U);
  b.end();
}

TEST(PartitionCore, TheKeyIsHaltedBeforeItsRecordIsTold) {
  partition_bench b(by_key());
  halt_k1(b);

  EXPECT_LT(b.place_of("halted 'k1' kafka:87"), b.place_of("0 not_written kafka:87"));
  b.end();
}

TEST(PartitionCore, NewRecordsOfAHaltedKeyAreRefusedWithItsCause) {
  partition_bench b(by_key());
  halt_k1(b);

  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_unkeyed();

  EXPECT_EQ(b.told(3), "not_written halted (kafka:87)");
  EXPECT_EQ(deliver_all(b), (numbers{1, 4, 5}));
  EXPECT_EQ(b.told(2), "") << "what was buffered when it fell is held";
  b.end();
}

TEST(PartitionCore, CORE_26_b_ARecordWithoutAKeyFailsAlone) {
  partition_bench b(by_key());
  b.started();
  b.produce_unkeyed();
  b.produce_unkeyed();
  b.answer(b.send(), 87);

  EXPECT_EQ(b.halts, 0);
  EXPECT_EQ(deliver_all(b), (numbers{1}));
  EXPECT_EQ(b.released_bytes, b.accepted_bytes) << "nothing is kept of it";
  b.end();
}

TEST(PartitionCore, ABatchThatFailsHaltsAllItsKeys) {
  auto with = by_key();
  with.batch_records_max = 4;
  partition_bench b(with);
  b.started();
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_unkeyed();
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_keyed("k3");
  b.produce_keyed("k1");
  b.produce_unkeyed();
  b.answer(b.send(), 29);

  EXPECT_EQ(b.place_of("halted 'k1' 'k2' kafka:29"), 0U + b.place_of("0 not_written kafka:29") - 1);
  EXPECT_EQ(deliver_all(b), (numbers{5, 7})) << "taken out of their batch, in order";
  auto& run = b.recover(recovery::resubmit);
  EXPECT_EQ(deliver_all(b, 2), (numbers{0, 1, 3, 4, 6})) << "the one without a key failed alone";
  EXPECT_EQ(run.resubmitted.size(), 3U);
  b.end();
}

TEST(PartitionCore, RecordsThatWereInFlightBehindAFailureOfTheirKeyAreAnsweredTruthfully) {
  partition_bench b(by_key(while_halted::hold));
  b.started().establish();
  for (const char* key : {"k1", "k1", "k2", "k1"}) b.produce_keyed(key);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  b.deliver(sent[1], 1);  // a broker that forgot took it all the same
  b.answer(sent[2], 45);
  b.lose(sent[3], false);

  EXPECT_EQ(b.told(2), "delivered@1");
  EXPECT_EQ(deliver_all(b, 2), (numbers{3})) << "nothing more of the key, its survivor included";
  EXPECT_EQ(b.told(4), "");
  b.recover_key("k1", recovery::discard);
  EXPECT_EQ(deliver_all(b, 3), (numbers{4}));
  b.end();
}

// Found by the histories: its room was held until close(), since nothing was halted.
TEST(PartitionCore, ABatchOfWhichOnlyACancelledRecordHasAKeyIsNotKept) {
  auto with = by_key();
  with.batch_records_max = 2;
  partition_bench b(with);
  b.started().establish();
  b.produce_unkeyed();
  b.produce_own();
  batch* sent = b.send();
  b.cancel({2});
  EXPECT_EQ(b.told(2), "unknown cancelled");

  b.answer(sent, 87);

  EXPECT_EQ(b.told(1), "not_written kafka:87");
  EXPECT_EQ(b.status().halted_keys, 0U);
  EXPECT_EQ(b.status().failed_records_kept, 0U);
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
  b.end();
}

TEST(PartitionCore, ARecordThatFailedBeforeItWasBufferedHaltsItsKeyFromThereOn) {
  partition_bench b(by_key(while_halted::hold));
  b.started();
  b.produce_keyed("k1");
  b.produce_failed(client_errc::record_too_large, "k1");
  b.produce_keyed("k1");
  b.produce_keyed("k2");

  EXPECT_EQ(deliver_all(b), (numbers{0, 3}));
  EXPECT_EQ(b.status().held_records, 1U);
  b.recover_key("k1", recovery::discard);
  EXPECT_EQ(deliver_all(b, 2), (numbers{2}));
  b.end();
}

TEST(PartitionCore, HeldRecordsOfSeveralKeysKeepTheirOrderThroughLaterHalts) {
  auto with = by_key(while_halted::hold);
  with.batch_records_max = 3;
  partition_bench b(with);
  b.started();
  b.produce_failed(client_errc::record_too_large, "k3");
  b.produce_keyed("k3");                              // 1, held: begins a batch
  for (int i = 0; i < 2; ++i) b.produce_keyed("k1");  // 2 3, not halted yet
  b.pause();
  b.produce_failed(client_errc::record_too_large, "k1");  // 4: k1 is halted from here
  b.halt("k2");
  b.produce_keyed("k1");  // 5, held
  b.produce_keyed("k3");  // 6, held
  b.resume();
  b.recover(recovery::discard);

  EXPECT_EQ(deliver_all(b), (numbers{1, 2, 3, 5, 6}));
  b.end();
}

/// A record as a command of its own, without the end of the turn.
void append(partition_bench& b, int number, const char* key) {
  const std::string value = std::to_string(number);
  record what{.topic = "topic", .key = {}, .value = value};
  if (key != nullptr) what.key = key;
  record_node* node =
      make_record_node(what, static_cast<std::uint32_t>(wire::record_tail_size(what)));
  node->data = static_cast<std::uint64_t>(number);
  node->admitted_ns = b.now.time_since_epoch().count();
  b.accepted_bytes += node->weight;
  b.core->append(*node, b.now, b.now);
  release_record_node(*node);
}

// Found by the histories: the later one joined the batch that the earlier one was taken out of.
TEST(PartitionCore, BehindAHaltOfAllARecordDoesNotPassOneOfItsKeyThatWasPutAside) {
  auto with = by_key(while_halted::hold);
  with.batch_records_max = 3;
  partition_bench b(with);
  b.started();
  b.produce_failed(client_errc::record_too_large, "k1");
  b.halt();
  append(b, 1, nullptr);
  append(b, 2, "k1");
  b.core->settle(b.now);
  append(b, 3, "k1");
  b.core->settle(b.now);

  b.recover(recovery::discard);

  EXPECT_EQ(deliver_all(b), (numbers{1, 2, 3}));
}

TEST(PartitionCore, TakeOfOneKeyHandsBackWhatFailedAndWhatWasHeldInOrder) {
  partition_bench b(by_key(while_halted::hold));
  halt_k1(b);
  b.produce_keyed("k1");
  b.produce_keyed("k2");

  auto& run = b.recover_key("k1", recovery::take);

  EXPECT_EQ(values_of(run.command.report), (texts{"0", "2", "3"}));
  EXPECT_EQ(run.command.report.taken[0].answer.code, broker_errc::invalid_record);
  EXPECT_EQ(b.told(2), "not_written handed_back");
  EXPECT_EQ(deliver_all(b), (numbers{1, 4}));
  b.end();
}

TEST(PartitionCore, RecoveringOneKeyLeavesTheOthersHalted) {
  auto with = by_key();
  with.batch_records_max = 4;
  partition_bench b(with);
  b.started();
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.answer(b.send(), 87);

  auto& first = b.recover_key("k2", recovery::take);
  auto& none = b.recover_key("k2", recovery::take);
  auto& never = b.recover_key("other", recovery::resubmit);

  EXPECT_EQ(values_of(first.command.report), (texts{"1", "3"}));
  EXPECT_TRUE(none.done);
  EXPECT_FALSE(none.command.report.was_halted) << "twice is a no-op";
  EXPECT_FALSE(never.command.report.was_halted);
  EXPECT_EQ(b.status().halted_keys, 1U);
  EXPECT_EQ(b.status().failed_records_kept, 2U);
  auto& second = b.recover_key("k1", recovery::resubmit);
  EXPECT_EQ(deliver_all(b), (numbers{0, 2}));
  EXPECT_EQ(second.resubmitted.size(), 2U);
  b.end();
}

TEST(PartitionCore, ARecoveryOfAKeyDoesNotWaitForOtherKeysInFlight) {
  partition_bench b(by_key());
  b.started().establish();
  b.produce_failed(client_errc::record_too_large, "k1");
  b.produce_keyed("k2");
  batch* slow = b.send();

  auto& run = b.recover_key("k1", recovery::discard);
  b.produce_keyed("k1");
  batch* next = b.send();

  EXPECT_TRUE(run.done);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(numbers_in(*next), (numbers{3}));
  b.deliver(slow, 1);
  b.deliver(next, 2);
  b.end();
}

TEST(PartitionCore, HeldRecordsEndAtTheirOwnDeadlines) {
  partition_bench b(by_key(while_halted::hold));
  halt_k1(b);
  b.advance(3s);
  b.produce_keyed("k1");

  b.advance(7s);

  EXPECT_EQ(b.told(2), "not_written delivery_timeout (kafka:87)") << "why its key is halted";
  EXPECT_EQ(b.told(3), "");
  b.advance(3s);
  EXPECT_EQ(b.told(3), "not_written delivery_timeout (kafka:87)");
  auto& run = b.recover_key("k1", recovery::take);
  EXPECT_EQ(values_of(run.command.report), (texts{"0", "2", "3"}));
  b.end();
}

TEST(PartitionCore, EachEndsAtItsOwnDeadlineWhereBatchesOfSeveralKeysOverlap) {
  auto with = by_key(while_halted::hold);
  with.batch_records_max = 10;
  partition_bench b(with);
  b.started();
  b.pause();
  b.produce_failed(client_errc::record_too_large, "k1");
  b.produce_keyed("k1");  // held
  b.advance(1s);
  b.produce_keyed("k2");
  b.advance(1s);
  b.produce_keyed("k1");  // held with the first
  b.recover_key("k1", recovery::discard);

  b.advance(9s);

  EXPECT_EQ(b.told(1), "not_written delivery_timeout");
  EXPECT_EQ(b.told(2), "not_written delivery_timeout") << "it lies between the two";
  EXPECT_EQ(b.told(3), "");
  b.advance(1s);
  EXPECT_EQ(b.told(3), "not_written delivery_timeout");
  b.end();
}

TEST(PartitionCore, AFlushCountsHeldRecordsThatLieBetweenOthers) {
  auto with = by_key(while_halted::hold);
  with.batch_records_max = 10;
  partition_bench b(with);
  b.started();
  b.produce_failed(client_errc::record_too_large, "k1");
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  auto& flush = b.flush();
  b.produce_keyed("k1");
  b.produce_keyed("k2");

  EXPECT_EQ(deliver_all(b), (numbers{2, 4}));
  EXPECT_FALSE(flush.done);
  b.recover_key("k1", recovery::discard);
  EXPECT_EQ(deliver_all(b, 2), (numbers{1, 3}));
  EXPECT_TRUE(flush.done);
  EXPECT_EQ(flush.barrier.answered.delivered, 2U);
  b.end();
}

TEST(PartitionCore, AbortingWhatIsBufferedAbortsWhatIsHeld) {
  partition_bench b(by_key(while_halted::hold));
  halt_k1(b);
  b.produce_keyed("k1");

  b.pause(pause_mode::abort_buffered);

  EXPECT_EQ(b.told(2), "not_written aborted");
  EXPECT_EQ(b.told(3), "not_written aborted");
  b.end();
}

TEST(PartitionCore, CloseHandsBackHeldRecordsInOrder) {
  partition_bench b(by_key(while_halted::hold));
  halt_k1(b);
  b.produce_keyed("k2");
  b.produce_keyed("k1");
  close_command command;

  b.close(&command);

  texts values;
  for (const owned_record& each : command.unsent) values.push_back(*each.value);
  EXPECT_EQ(values, (texts{"1", "2", "3", "4"}));
  b.end();
}

TEST(PartitionCore, HaltOnRequestStopsWhatIsNotOnItsWay) {
  for (const bool whole : {false, true}) {
    partition_bench b(by_key());
    b.started().establish();
    b.produce_keyed("k1");
    batch* sent = b.send();
    b.produce_keyed("k1");
    b.produce_keyed("k2");

    EXPECT_TRUE(whole ? b.halt() : b.halt("k1"));
    EXPECT_FALSE(whole ? b.halt() : b.halt("k1")) << "twice is a no-op";
    b.produce_keyed("k1");

    EXPECT_EQ(b.told(4), "not_written halted (halt_requested)");
    b.deliver(sent, 1);
    EXPECT_EQ(deliver_all(b, 2), whole ? numbers{} : (numbers{3}));
    auto& run = b.recover(recovery::resubmit);
    EXPECT_TRUE(run.command.report.was_halted);
    EXPECT_EQ(deliver_all(b, 3), whole ? (numbers{2, 3}) : (numbers{2}));
    b.end();
  }
}

TEST(PartitionCore, TooManyHaltedKeysHaltThePartition) {
  partition_bench b(by_key());
  b.started();
  for (std::size_t i = 0; i < halted_keys::keys_max; ++i)
    b.produce_failed(client_errc::record_too_large, "k" + std::to_string(i));
  EXPECT_EQ(b.status().state, partition_state::normal);

  b.produce_failed(client_errc::record_too_large, "one more");

  EXPECT_EQ(b.status().state, partition_state::halted);
  EXPECT_EQ(b.status().halted_keys, halted_keys::keys_max);
  b.produce_keyed("another");
  EXPECT_EQ(b.told(static_cast<int>(halted_keys::keys_max) + 1),
            "not_written halted (record_too_large)");
  b.end();
}

TEST(PartitionCore, OverlappingFailedBatchesAreResubmittedAndReportedInTheOrderOfTheirRecords) {
  auto with = by_key(while_halted::hold);
  with.batch_records_max = 4;
  partition_bench b(with);
  b.started();
  b.produce_keyed("k1");
  b.produce_keyed("k2");
  b.produce_keyed("k1");
  b.halt("k2");
  batch* sent = b.send();
  ASSERT_EQ(numbers_in(*sent), (numbers{0, 2}));
  b.answer(sent, 87);
  b.advance(10s);
  ASSERT_EQ(b.told(1), "not_written delivery_timeout (halt_requested)") << "held, and expired";
  auto& run = b.recover(recovery::resubmit);

  EXPECT_EQ(deliver_all(b), (numbers{0, 1, 2}));
  EXPECT_EQ(run.resubmitted, (texts{"delivered@0", "delivered@1", "delivered@2"}));
  b.end();
}

TEST(PartitionCore, TooMuchThatWaitsForRecoveryHaltsThePartition) {
  auto with = by_key();
  with.kept_bytes_max = 300;
  partition_bench b(with);
  b.started();
  for (int i = 0; i < 5; ++i) b.produce_keyed("k" + std::to_string(i));
  int failed = 0;
  while (batch* next = b.send()) {
    b.answer(next, 87);
    b.advance(1s);
    ++failed;
  }

  EXPECT_EQ(b.status().state, partition_state::halted);
  EXPECT_GT(failed, 1);
  EXPECT_LT(failed, 5);
  b.end();
}

// fail_following

partition_settings failing_followers() {
  auto with = by_key();
  with.on_failure = failure_policy::fail_following;
  return with;
}

TEST(PartitionCore, ORD_12_WhatIsBufferedBehindAFailureFailsInOrderAndThenItGoesOn) {
  partition_bench b(failing_followers());
  b.started().establish();
  b.produce(4);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  b.produce(1);
  for (const int i : {1, 2, 3}) b.answer(sent[static_cast<std::size_t>(i)], 45);

  EXPECT_EQ(b.halts, 0);
  EXPECT_EQ(b.told(1), "not_written kafka:87");
  EXPECT_EQ(b.told(3), "not_written earlier_failed (kafka:87)");
  EXPECT_LT(b.place_of("2 not_written earlier_failed (kafka:87)"),
            b.place_of("3 not_written earlier_failed (kafka:87)"));
  EXPECT_EQ(deliver_all(b, 1), (numbers{5}));
  b.end();
}

TEST(PartitionCore, FollowersThatWereNeverSentFailWithinTheSameCommand) {
  auto with = failing_followers();
  with.batch_records_max = 2;
  partition_bench b(with);
  b.started();
  b.produce(5);
  b.answer(b.send(), 87);

  EXPECT_EQ(b.answered(), 5U);
  EXPECT_EQ(b.told(4), "not_written earlier_failed (kafka:87)");
  EXPECT_EQ(b.released_bytes, b.accepted_bytes);
  b.produce(1);
  EXPECT_EQ(deliver_all(b), (numbers{5}));
  b.end();
}

TEST(PartitionCore, AFollowerThatWasWrittenIsNotToldThatItWasNot) {
  partition_bench b(failing_followers());
  b.started().establish();
  b.produce(2);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  b.deliver(sent[1], 1);

  EXPECT_EQ(b.told(2), "delivered@1");
  b.end();
}

// The failure handler

partition_settings judged(failure_policy policy = failure_policy::halt_partition) {
  auto with = by_key(while_halted::hold);
  with.on_failure = policy;
  with.has_failure_handler = true;
  return with;
}

TEST(PartitionCore, ORD_13_a_RetrySendsTheRecordAgainBeforeThoseBehindIt) {
  partition_bench b(judged());
  b.started().establish();
  b.produce(3);
  std::size_t seen_behind = 0;
  b.judge = [&](const failure_case& what) {
    for (const batch* each : what.behind) seen_behind += each->count();
    EXPECT_EQ(numbers_in(*what.failed), (numbers{1}));
    return failure_verdict::retry;
  };
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  b.answer(sent[1], 45);
  b.answer(sent[2], 45);

  EXPECT_EQ(b.judged, (texts{"not_written kafka:87"})) << "once";
  EXPECT_EQ(seen_behind, 2U);
  EXPECT_EQ(b.answered(), 1U) << "it is not answered";
  EXPECT_EQ(deliver_all(b, 1), (numbers{1, 2, 3}));
  EXPECT_EQ(b.halts, 0);
  b.end();
}

TEST(PartitionCore, ORD_13_b_SkipLetsTheOthersGoOn) {
  partition_bench b(judged());
  b.started();
  b.judge = [](const failure_case&) { return failure_verdict::skip; };
  b.produce(3);
  b.answer(b.send(), 87);

  EXPECT_EQ(b.told(0), "not_written kafka:87");
  EXPECT_EQ(deliver_all(b), (numbers{1, 2}));
  b.end();
}

TEST(PartitionCore, ORD_13_c_AVerdictCanHaltTheKeyOnly) {
  partition_bench b(judged(failure_policy::skip));
  b.judge = [](const failure_case&) { return failure_verdict::halt_key; };
  halt_k1(b);

  EXPECT_EQ(deliver_all(b), (numbers{1}));
  EXPECT_EQ(b.status().halted_keys, 1U);
  b.end();
}

TEST(PartitionCore, ORD_13_ARetriedRecordOfAHaltedKeyIsHeldInItsPlace) {
  auto with = judged(failure_policy::halt_key);
  with.batch_records_max = 4;
  partition_bench b(with);
  b.started();
  b.produce();
  b.answer(b.send(), 87);
  b.judge = [](const failure_case&) { return failure_verdict::retry; };
  b.produce();
  b.produce_own(50ms);
  b.produce();
  b.advance(1s);
  EXPECT_EQ(b.send(), nullptr);
  b.recover_key("", recovery::resubmit);

  EXPECT_EQ(deliver_all(b), (numbers{0, 1, 2, 3}));
  b.end();
}

TEST(PartitionCore, RetryOfWhatMayBeWrittenIsImpossibleAndThePolicyActs) {
  partition_bench b(judged());
  b.started();
  b.judge = [](const failure_case&) { return failure_verdict::retry; };
  b.produce(2);
  batch* sent = b.send();
  b.lose(sent);
  b.advance(10s);

  EXPECT_EQ(b.told(0), "unknown delivery_timeout (answer_lost)");
  EXPECT_GE(b.impossible_verdicts, 1);
  EXPECT_EQ(b.status().state, partition_state::halted);
  b.end();
}

TEST(PartitionCore, RetryOfARecordThatWasNeverBufferedIsImpossible) {
  partition_bench b(judged());
  b.started();
  b.judge = [](const failure_case&) { return failure_verdict::retry; };

  b.produce_failed(client_errc::record_too_large, "k1");

  EXPECT_EQ(b.told(0), "not_written record_too_large");
  EXPECT_EQ(b.impossible_verdicts, 1);
  EXPECT_EQ(b.halts, 1);
  b.end();
}

TEST(PartitionCore, ARecordThatComesAfterItsDeadlineCanBeRetried) {
  partition_bench b(judged());
  b.started();
  b.judge = [](const failure_case&) { return failure_verdict::retry; };

  b.produce_at(b.now - 10s);

  EXPECT_EQ(b.told(0), "");
  EXPECT_EQ(deliver_all(b), (numbers{0}));
  b.end();
}

TEST(PartitionCore, ARetriedRecordThatWouldComeTooLateFails) {
  partition_bench b(judged(failure_policy::skip));
  b.started().establish();
  b.judge = [](const failure_case&) { return failure_verdict::retry; };
  b.produce(2);
  const auto sent = b.send_all();
  b.answer(sent[0], 87);
  b.deliver(sent[1], 1);  // a broker that forgot took the younger one

  EXPECT_EQ(b.told(1), "not_written epoch_given_up (kafka:87)");
  EXPECT_EQ(b.told(2), "delivered@1");
  b.end();
}

TEST(PartitionCore, RetriesThatNeverSucceedAreSpacedOut) {
  partition_bench b(judged());
  b.started();
  b.judge = [](const failure_case&) { return failure_verdict::retry; };
  b.produce(1);
  int attempts = 0;
  for (int i = 0; i < 100; ++i) {
    if (batch* next = b.send()) {
      ++attempts;
      b.answer(next, 87);
    }
    b.advance(10ms);
  }

  EXPECT_LE(attempts, 11) << "in a second, with a backoff of 100 ms (L8)";
  b.end();
}

TEST(PartitionCore, ARefusedProducerIdDoesNotLoopWithAHandlerThatRetries) {
  partition_bench b(judged());
  b.leader(1);
  b.judge = [](const failure_case&) { return failure_verdict::retry; };
  b.produce(2);

  b.core->producer_id_refused(broker_errc::cluster_authorization_failed, b.now);
  b.core->settle(b.now);

  EXPECT_EQ(b.answered(), 0U);
  b.grant(4242);
  EXPECT_EQ(deliver_all(b), (numbers{0, 1}));
  b.end();
}

TEST(PartitionCore, AHeldRecordThatExpiresBetweenOthersGoesBackBetweenThem) {
  auto with = by_key(while_halted::hold);
  with.batch_records_max = 3;
  partition_bench b(with);
  b.started();
  b.halt("");
  b.produce_own();
  b.produce_own(1s);
  b.produce_own();
  b.advance(1s);
  EXPECT_EQ(b.told(1), "not_written delivery_timeout (halt_requested)");

  b.recover(recovery::resubmit);

  EXPECT_EQ(deliver_all(b), (numbers{0, 1, 2}));
  b.end();
}

}  // namespace
}  // namespace partita::actors
