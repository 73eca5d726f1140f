// Scenarios by their ids. The founding fault is CORE: a sequence that may be used up must never be
// given to other bytes, and a failure must be seen before any later record goes out.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

constexpr const char* topic = "ledger";

/// The stage of all scenarios: linger 0, one record per batch, short limits.
history_options stage() {
  history_options options;
  options.partitions = 3;
  options.config = hurried_config();
  options.config.linger = std::chrono::milliseconds(0);
  options.config.batch_records_max = 1;
  options.config.delivery_timeout = std::chrono::seconds(10);
  return options;
}

fault error(broker_errc code, execution what, int times = 1) {
  fault planned;
  planned.topic = topic;
  planned.partition = 0;
  planned.execution = what;
  planned.reply = reply::error;
  planned.code = code;
  planned.real_offset = what == execution::append;
  planned.times = times;
  return planned;
}

fault cut(execution what, int times = 1) {
  fault planned;
  planned.topic = topic;
  planned.partition = 0;
  planned.execution = what;
  planned.reply = reply::close_before;
  planned.times = times;
  return planned;
}

class Scenario : public ::testing::Test {
 protected:
  explicit Scenario(history_options options = stage()) : story(options) {}

  /// One record is delivered on each partition, as the stage demands.
  void warm_up() {
    for (int partition = 0; partition < 3; ++partition) story.produce(partition, "warm");
    ASSERT_TRUE(story.run_until_answered());
    warm = story.produced();
  }
  std::size_t produce(int partition = 0) {
    story.produce(partition, "k");
    return story.produced() - 1;
  }
  void discard(int partition = 0) {
    wait_for(story.world(), story.producer().recover(topic, partition, recovery::discard));
  }
  [[nodiscard]] const failed& failure(std::size_t record) {
    const failed* found = story.answer(record).failure();
    EXPECT_NE(found, nullptr) << "record " << record << " was delivered";
    static const failed none{fate::unknown, {}, {}};
    return found == nullptr ? none : *found;
  }
  /// The values in a partition's log after the warm start, as indexes of records.
  [[nodiscard]] std::vector<std::size_t> log(int partition = 0) {
    std::vector<std::size_t> found;
    for (const log_record& each : story.cluster().log(topic, partition))
      for (std::size_t i = warm; i < story.produced(); ++i)
        if (story.record(i).record.value == each.value) found.push_back(i);
    return found;
  }
  [[nodiscard]] partition_status status(int partition = 0) {
    const producer_status all = wait_for(story.world(), story.producer().status());
    return all.partitions.at(static_cast<std::size_t>(partition));
  }
  void expect_truth() { EXPECT_EQ(story.verdict(), ""); }

  history story;
  std::size_t warm = 0;
};

TEST_F(Scenario, CORE_08_a_final_refusal_after_a_timeout_leaves_doubt) {
  warm_up();
  story.cluster().inject(error(broker_errc::request_timed_out, execution::append));
  story.cluster().inject(error(broker_errc::topic_authorization_failed, execution::skip, 1000));
  const std::size_t a = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(failure(a).fate, fate::unknown);
  story.cluster().clear_faults();
  discard();
  const std::size_t b = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b}));
  EXPECT_GE(status().epoch_bumps, 1U);
  expect_truth();
}

TEST_F(Scenario, CORE_09_an_unexplained_error_is_retried_with_the_same_bytes) {
  warm_up();
  story.cluster().inject(error(broker_errc::unknown_server_error, execution::append));
  const std::size_t a = produce();
  const std::size_t b = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b}));
  EXPECT_EQ(status().epoch_bumps, 0U);
  expect_truth();
}

TEST_F(Scenario, CORE_13_a_deadline_after_a_timeout_ends_unknown_and_starts_a_new_epoch) {
  warm_up();
  story.cluster().inject(error(broker_errc::request_timed_out, execution::append));
  story.cluster().inject(error(broker_errc::not_enough_replicas, execution::skip, 1000));
  const std::size_t a = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(failure(a).fate, fate::unknown);
  EXPECT_EQ(failure(a).code, make_error_code(client_errc::delivery_timeout));
  EXPECT_EQ(failure(a).cause, make_error_code(broker_errc::not_enough_replicas));
  EXPECT_NE(failure(a).ticket.value, 0U);
  story.cluster().clear_faults();
  discard();
  const std::size_t b = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b}));
  const std::vector<log_batch> batches = story.cluster().batches(topic, 0);
  EXPECT_GT(batches.back().producer_epoch, batches.front().producer_epoch);
  EXPECT_EQ(batches.back().base_sequence, sequence(0));
  expect_truth();
}

TEST_F(Scenario, CORE_07_a_foreign_leader_answer_is_doubt) {
  warm_up();
  fault foreign = error(broker_errc::not_leader_or_follower, execution::append);
  foreign.real_offset = false;  // another make of broker puts -1 there although it appended
  story.cluster().inject(foreign);
  story.cluster().inject(error(broker_errc::not_enough_replicas, execution::skip, 1000));
  const std::size_t a = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(failure(a).fate, fate::unknown);
  expect_truth();
}

TEST_F(Scenario, CORE_04_a_lost_answer_is_not_forgotten_by_a_later_refusal) {
  warm_up();
  story.cluster().inject(cut(execution::append));
  story.cluster().inject(error(broker_errc::not_enough_replicas, execution::skip, 1000));
  const std::size_t a = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(failure(a).fate, fate::unknown);
  EXPECT_EQ(log(), (std::vector{a}));
  expect_truth();
}

TEST_F(Scenario, CORE_15_abort_buffered_spares_what_is_in_flight) {
  warm_up();
  fault slow = error(broker_errc::none, execution::append);
  slow.reply = reply::truthful;
  slow.answer_after = std::chrono::seconds(1);
  slow.times = 5;
  story.cluster().inject(slow);
  std::vector<std::size_t> all;
  for (int i = 0; i < 8; ++i) all.push_back(produce());
  story.run_for(std::chrono::milliseconds(200));
  wait_for(story.world(), story.producer().pause(topic, 0, pause_mode::abort_buffered));
  wait_for(story.world(), story.producer().resume(topic, 0));
  const std::size_t b = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(failure(all.back()).code, make_error_code(client_errc::aborted));
  EXPECT_EQ(failure(all.back()).fate, fate::not_written);
  EXPECT_TRUE(story.answer(all.front()).is_delivered());
  expect_truth();
}

TEST_F(Scenario, CORE_16_pipelined_successors_keep_their_tuples) {
  warm_up();
  story.cluster().inject(cut(execution::append));
  story.cluster().inject(error(broker_errc::not_enough_replicas, execution::skip, 4));
  const std::size_t a = produce();
  const std::size_t b = produce();
  const std::size_t c = produce();
  ASSERT_TRUE(story.run_until_answered());
  for (const std::size_t each : {a, b, c}) EXPECT_TRUE(story.answer(each).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b, c}));
  EXPECT_EQ(status().epoch_bumps, 0U);
  expect_truth();
}

TEST_F(Scenario, CORE_17_a_latecomer_lands_before_the_new_epoch_or_nowhere) {
  warm_up();
  fault late = cut(execution::append);
  late.execute_after = std::chrono::seconds(3);
  story.cluster().inject(late);
  story.cluster().inject(error(broker_errc::not_enough_replicas, execution::skip, 1000));
  const std::size_t a = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(failure(a).fate, fate::unknown);
  story.cluster().clear_faults();
  discard();
  const std::size_t b = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b}));
  expect_truth();
}

TEST_F(Scenario, CORE_21_a_local_refusal_stops_its_successors) {
  warm_up();
  story.produce(0, "k", 2'000'000);
  const std::size_t a = story.produced() - 1;
  const std::size_t b = produce();
  const std::size_t elsewhere = produce(1);
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(failure(a).code, make_error_code(client_errc::record_too_large));
  EXPECT_EQ(failure(b).code, make_error_code(client_errc::halted));
  EXPECT_EQ(failure(b).cause, make_error_code(client_errc::record_too_large));
  EXPECT_TRUE(story.answer(elsewhere).is_delivered());
  EXPECT_TRUE(log().empty());
  discard();
  const std::size_t c = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(c).is_delivered());
  expect_truth();
}

TEST_F(Scenario, CORE_22_a_refused_head_halts_what_is_behind_it_and_resubmits_in_order) {
  warm_up();
  story.cluster().inject(error(broker_errc::invalid_record, execution::skip));
  const std::size_t a = produce();
  const std::size_t b = produce();
  const std::size_t c = produce();
  story.world().time().run_until([&] { return story.answered() > warm; }, std::chrono::seconds(5));
  EXPECT_EQ(failure(a).fate, fate::not_written);
  EXPECT_EQ(failure(a).code, make_error_code(broker_errc::invalid_record));
  story.run_for(std::chrono::seconds(1));
  EXPECT_TRUE(log().empty());
  EXPECT_EQ(status().state, partition_state::halted);
  const recovery_report report =
      wait_for(story.world(), story.producer().recover(topic, 0, recovery::resubmit));
  ASSERT_EQ(report.resubmitted.size(), 1U);
  EXPECT_TRUE(report.resubmitted[0].answer.is_delivered());
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_TRUE(story.answer(c).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b, c}));
}

TEST_F(Scenario, CORE_20_a_record_behind_an_unseen_failure_is_refused_before_anything_is_sent) {
  warm_up();
  story.cluster().inject(error(broker_errc::invalid_record, execution::skip));
  std::vector<std::string> seen;
  partita::record a;
  a.topic = topic;
  a.partition = 0;
  a.value = "from outside";
  std::optional<outcome> b_answer;
  story.producer().produce(a, [&](const outcome& answer) {
    seen.push_back(answer.is_delivered() ? "a delivered" : "a failed");
    // The callback of a failed record produces onto the same partition: the halt is in force
    // already.
    partita::record b;
    b.topic = topic;
    b.partition = 0;
    b.value = "from inside";
    story.producer().produce(b, [&](const outcome& second) {
      seen.push_back(second.is_delivered() ? "b delivered" : "b refused");
      b_answer = second;
    });
  });
  story.world().time().run_until([&] { return seen.size() == 2; }, std::chrono::seconds(20));
  EXPECT_EQ(seen, (std::vector<std::string>{"a failed", "b refused"}));
  ASSERT_TRUE(b_answer.has_value());
  EXPECT_EQ(b_answer->failure()->code, make_error_code(client_errc::halted));
  EXPECT_EQ(story.cluster().log(topic, 0).size(), 1U);
}

class ColdScenario : public Scenario {};

TEST_F(ColdScenario, LOSS_03_no_second_batch_leaves_before_the_first_success) {
  story.cluster().inject(error(broker_errc::not_leader_or_follower, execution::skip));
  const std::size_t a = produce();
  const std::size_t b = produce();
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(log(), (std::vector{a, b}));
  expect_truth();
}

TEST_F(ColdScenario, LOSS_05_many_callers_get_offsets_of_their_own) {
  for (int i = 0; i < 20; ++i) produce();
  ASSERT_TRUE(story.run_until_answered());
  std::set<std::int64_t> offsets;
  for (std::size_t i = 0; i < 20; ++i) offsets.insert(story.answer(i).delivery()->offset->value);
  EXPECT_EQ(offsets.size(), 20U);
  expect_truth();
}

TEST_F(Scenario, DUP_01_trouble_on_one_partition_leaves_the_numbering_of_others_alone) {
  warm_up();
  fault lost = cut(execution::append);
  lost.partition = 1;
  story.cluster().inject(lost);
  story.cluster().inject(error(broker_errc::out_of_order_sequence_number, execution::skip));
  const std::size_t x = produce(1);
  const std::size_t y = produce(0);
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_TRUE(story.answer(x).is_delivered());
  EXPECT_TRUE(story.answer(y).is_delivered());
  EXPECT_EQ(log(1), (std::vector{x}));
  EXPECT_EQ(status(1).epoch_bumps, 0U);
  EXPECT_EQ(status(0).epoch_bumps, 1U);
  expect_truth();
}

TEST_F(Scenario, TIME_close_answers_everything_and_hands_unsent_records_back_in_order) {
  warm_up();
  story.cluster().pause_broker(1);
  story.cluster().pause_broker(2);
  story.cluster().pause_broker(3);
  for (int i = 0; i < 10; ++i) produce();
  story.run_for(std::chrono::milliseconds(50));
  const close_report report =
      wait_for(story.world(), story.producer().close(std::chrono::seconds(1)));
  EXPECT_EQ(story.answered(), story.produced());
  EXPECT_EQ(report.answered.total(), 10U);
  for (std::size_t i = 1; i < report.unsent.size(); ++i)
    EXPECT_LT(*report.unsent[i - 1].value, *report.unsent[i].value);
  EXPECT_EQ(report.unsent.size(), report.answered.not_written);
  story.cluster().resume_broker(1);
  story.cluster().resume_broker(2);
  story.cluster().resume_broker(3);
  expect_truth();
}

TEST_F(Scenario, LIE_a_destroyed_producer_answers_everything_truthfully) {
  warm_up();
  for (int broker = 1; broker <= 3; ++broker) story.cluster().pause_broker(broker);
  for (int i = 0; i < 5; ++i) produce();
  story.run_for(std::chrono::milliseconds(20));
  story.end_producer();
  EXPECT_EQ(story.answered(), story.produced());
  for (int broker = 1; broker <= 3; ++broker) story.cluster().resume_broker(broker);
  expect_truth();
}

}  // namespace
}  // namespace partita::testing
