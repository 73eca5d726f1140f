// Rows META of the catalogue that turn on who leads a partition, by their ids.
#include "tests/sim/metadata_stage.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using namespace metadata_stage;  // NOLINT: the words of this file

TEST(fault_meta, meta_01_leader_none_for_a_while_b) {
  history story(stage());
  warm_up(story);
  // Only the hint can tell: metadata is never answered again.
  story.cluster().inject(api_fault{.api = api::metadata, .times = always, .reply = reply::never});
  const auto before = story.cluster().view(topic, 1)->leader;
  const int next = before.value == 2 ? 3 : 2;
  ASSERT_TRUE(story.cluster().move_leader(topic, 1, next));
  const std::size_t a = produce(story, 1);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_02_hint_without_news) {
  history story(stage());
  warm_up(story);
  const std::uint64_t before = story.cluster().counters().produce_requests;
  // Each refusal names the leader and the epoch that the client knows already.
  story.cluster().inject(refusal(0, broker_errc::not_leader_or_follower, 1000));
  const std::size_t a = produce(story, 0);
  story.run_for(seconds(2));
  EXPECT_LT(story.cluster().counters().produce_requests - before, 20U);
  story.cluster().clear_faults();
  ASSERT_TRUE(answered_within(story, seconds(2)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_07_move_seen_before_error) {
  history story(stage());
  warm_up(story);
  fault slow = refusal(0, broker_errc::not_leader_or_follower, 1);
  slow.answer_after = milliseconds(300);
  story.cluster().inject(slow);
  const std::size_t a = produce(story, 0);
  story.run_for(milliseconds(50));
  // Partition 1 learns from its own refusal that leaders moved, and with it everybody.
  const int next = story.cluster().view(topic, 0)->leader.value == 2 ? 3 : 2;
  ASSERT_TRUE(story.cluster().move_leader(topic, 0, next));
  story.cluster().inject(refusal(1, broker_errc::not_leader_or_follower, 1));
  const std::size_t b = produce(story, 1);
  // A backoff of 100 ms lies between the refusal and the second attempt if the move is not heeded.
  ASSERT_TRUE(answered_within(story, milliseconds(320)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_20_refresh_coalesced) {
  constexpr int partitions = 500;
  history story(stage(partitions));
  warm_up(story, partitions);
  const cluster_counters before = story.cluster().counters();
  for (int partition = 0; partition < partitions; ++partition)
    story.cluster().inject(refusal(partition, broker_errc::not_leader_or_follower, 1));
  for (int partition = 0; partition < partitions; ++partition) produce(story, partition);
  ASSERT_TRUE(answered_within(story, seconds(2)));
  const cluster_counters after = story.cluster().counters();
  const std::uint64_t others =
      (after.requests - before.requests) - (after.produce_requests - before.produce_requests);
  EXPECT_LE(others, 3U) << "metadata requests";
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_01_leader_none_for_a_while_a) {
  history story(stage());
  warm_up(story);
  story.cluster().inject(metadata_lie{.topic = topic, .partition = 0, .leader = broker_id{}});
  story.cluster().inject(refusal(0, broker_errc::leader_not_available, 1000));
  const std::size_t a = produce(story, 0);
  story.run_for(seconds(5));
  EXPECT_EQ(story.answered(), a);
  story.cluster().clear_faults();
  ASSERT_TRUE(answered_within(story, milliseconds(2200)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_03_older_metadata_ignored) {
  history story(stage());
  warm_up(story);
  const partition_view before = *story.cluster().view(topic, 0);
  const int next = before.leader.value == 2 ? 3 : 2;
  ASSERT_TRUE(story.cluster().move_leader(topic, 0, next));
  for (const int liar : {1, 3})
    story.cluster().inject(metadata_lie{.topic = topic,
                                        .broker = broker_id{liar},
                                        .partition = 0,
                                        .leader = before.leader,
                                        .leader_epoch = before.leader_epoch});
  const std::uint64_t requests = story.cluster().counters().produce_requests;
  for (int i = 0; i < 20; ++i) {
    produce(story, 0);
    story.run_for(milliseconds(250));
  }
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_EQ(story.counts().delivered, story.produced());
  EXPECT_LE(story.cluster().counters().produce_requests - requests, 23U) << "ping-pong";
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_04_one_broker_denies_topic) {
  history story(stage());
  warm_up(story);
  for (const int liar : {1, 2})
    story.cluster().inject(metadata_lie{.topic = topic,
                                        .broker = broker_id{liar},
                                        .topic_code = broker_errc::unknown_topic_or_partition});
  story.cluster().inject(refusal(0, broker_errc::unknown_topic_or_partition, 3));
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(wait_for(story.world(), story.producer().status()).partitions.at(0).epoch_bumps, 0U);
  EXPECT_EQ(story.verdict(), "");
}

void recreate(history& story) {
  ASSERT_EQ(story.cluster().delete_topic(topic), broker_errc::none);
  ASSERT_EQ(story.cluster().create_topic(topic, {.partitions = 3}), broker_errc::none);
}

TEST(fault_meta, meta_05_topic_recreated_a) {
  history story(curious_stage());
  warm_up(story);
  recreate(story);
  story.run_for(seconds(2));  // the new id is noticed by age
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  ASSERT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.answer(a).delivery()->offset, offset(0));
}

TEST(fault_meta, meta_05_topic_recreated_b) {
  history story(curious_stage());
  warm_up(story);
  wait_for(story.world(), story.producer().pause(topic, 0));
  const std::size_t a = produce(story, 0);
  const std::size_t b = produce(story, 0);
  recreate(story);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  for (const std::size_t each : {a, b}) {
    ASSERT_NE(story.answer(each).failure(), nullptr);
    EXPECT_EQ(story.answer(each).failure()->fate, fate::not_written);
    EXPECT_EQ(story.answer(each).failure()->code, make_error_code(client_errc::topic_replaced));
  }
  const auto status = wait_for(story.world(), story.producer().status());
  EXPECT_EQ(status.partitions.at(0).state, partition_state::halted);
  EXPECT_EQ(status.partitions.at(1).state, partition_state::normal);
  wait_for(story.world(), story.producer().resume(topic, 0));
  wait_for(story.world(), story.producer().recover(topic, 0, recovery::discard));
  const std::size_t c = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(c).is_delivered());
}

/// Three records of a partition that is gone when they are asked about.
void fail_and_shrink(history& story, std::size_t padding) {
  story.cluster().inject(refusal(1, broker_errc::invalid_record, always));
  for (int i = 0; i < 3; ++i) story.produce(1, "k", padding);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  ASSERT_EQ(story.cluster().delete_topic(topic), broker_errc::none);
  ASSERT_EQ(story.cluster().create_topic(topic, {.partitions = 1}), broker_errc::none);
  story.run_for(seconds(2));  // the new id is noticed by age
}

history_options refusing_stage() {
  history_options options = curious_stage();
  options.config.on_failure = failure_policy::halt_partition;
  options.config.while_halted = while_halted::hold;
  return options;
}

// The topic has fewer partitions than before: what failed in one that is gone is still there to be
// recovered, and is seen as long as it holds room.
TEST(fault_meta, meta_05_topic_recreated_smaller) {
  for (const recovery how : {recovery::take, recovery::discard}) {
    history story(refusing_stage());
    warm_up(story);
    fail_and_shrink(story, 9000);
    const auto before = wait_for(story.world(), story.producer().status());
    ASSERT_EQ(before.partitions.size(), 2U);
    EXPECT_EQ(before.partitions.at(1).partition, partition_id(1));
    EXPECT_GE(before.partitions.at(1).failed_records_kept, 1U);
    EXPECT_EQ(before.partitions.at(1).buffered_bytes, before.buffered_bytes);
    const auto report = wait_for(story.world(), story.producer().recover(topic, 1, how));
    EXPECT_TRUE(report.was_halted);
    EXPECT_GE(report.taken.size() + report.discarded, 1U);
    const auto after = wait_for(story.world(), story.producer().status());
    EXPECT_EQ(after.partitions.size(), 1U);
    EXPECT_EQ(after.buffered_bytes, 0U);
    EXPECT_FALSE(wait_for(story.world(), story.producer().recover(topic, 1, how)).was_halted);
  }
}

// What is sent again to a partition that is gone waits there for its deadline, and is flushed and
// closed like everything else.
TEST(fault_meta, meta_05_topic_recreated_smaller_resubmit) {
  history story(refusing_stage());
  warm_up(story);
  fail_and_shrink(story, 100);
  auto recovering = story.producer().recover(topic, 1, recovery::resubmit);
  auto flush = story.producer().flush();
  story.run_for(seconds(1));
  const auto status = wait_for(story.world(), story.producer().status());
  ASSERT_EQ(status.partitions.size(), 2U);
  EXPECT_GE(status.partitions.at(1).buffered_records, 1U);
  const auto closed = wait_for(story.world(), story.producer().close(milliseconds(100)));
  const auto report = wait_for(story.world(), std::move(recovering));
  EXPECT_GE(report.resubmitted.size(), 1U);
  EXPECT_EQ(closed.unsent.size(), report.resubmitted.size());
  EXPECT_EQ(wait_for(story.world(), std::move(flush)), (tally{0, report.resubmitted.size(), 0}));
}

// A topic that is replaced again and again, under load and with answers that get lost: every record
// is answered in time, and each partition goes on after recover().
TEST(fault_meta, meta_05_topic_recreated_seeds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    history_options options = curious_stage();
    options.seed = seed;
    options.lanes = 1 + static_cast<int>(seed % 3);
    options.config.metadata_max_age = milliseconds(200);
    history story(options);
    warm_up(story);
    fault_mix mix;
    mix.lose_answer = 0.05;
    mix.lose_request = 0.05;
    mix.delay = 0.2;
    mix.delay_max = milliseconds(400);
    story.cluster().inject(mix);
    int replaced = 0;
    std::size_t looked_at = story.produced();
    for (int step = 0; step < 240; ++step) {
      if (step % 60 == 30) recreate(story);
      for (int partition = 0; partition < 3; ++partition) produce(story, partition);
      story.run_for(milliseconds(25));
      if (step % 10 != 9) continue;
      for (int partition = 0; partition < 3; ++partition)
        wait_for(story.world(), story.producer().recover(topic, partition, recovery::discard));
    }
    story.cluster().clear_faults();
    ASSERT_TRUE(answered_within(story, seconds(12))) << "seed " << seed;
    for (; looked_at < story.produced(); ++looked_at)
      if (const failed* failure = story.answer(looked_at).failure())
        replaced += failure->code == client_errc::topic_replaced ? 1 : 0;
    EXPECT_GT(replaced, 0) << "seed " << seed;
    for (int partition = 0; partition < 3; ++partition)
      wait_for(story.world(), story.producer().recover(topic, partition, recovery::discard));
    const std::size_t first = story.produced();
    for (int partition = 0; partition < 3; ++partition) produce(story, partition);
    ASSERT_TRUE(answered_within(story, seconds(3))) << "seed " << seed;
    for (std::size_t i = first; i < story.produced(); ++i)
      EXPECT_TRUE(story.answer(i).is_delivered()) << "seed " << seed;
  }
}

/// One record to any topic, and when it was answered.
struct lone_record {
  std::optional<outcome> answer;
  std::chrono::nanoseconds took{};

  lone_record(history& story, const char* to, const char* key, std::chrono::nanoseconds limit) {
    const auto began = story.world().time().now();
    story.producer().produce({.topic = to, .key = key, .value = "v"},
                             [this](const outcome& told) { answer.emplace(told); });
    EXPECT_TRUE(story.world().time().run_until([this] { return answer.has_value(); }, limit));
    took = story.world().time().now() - began;
  }
};

TEST(fault_meta, meta_06_topic_created_on_demand_a) {
  history story(stage());
  story.cluster().inject(metadata_lie{.topic = "fresh", .times = 3, .leader = broker_id{}});
  const lone_record a(story, "fresh", "k", seconds(2));
  EXPECT_TRUE(a.answer->is_delivered());
}

TEST(fault_meta, meta_06_topic_created_on_demand_b) {
  history_options options = stage();
  options.config.topic_metadata_propagation_max = seconds(3);
  history story(options);
  story.cluster().inject(
      metadata_lie{.topic = "never", .topic_code = broker_errc::unknown_topic_or_partition});
  const lone_record a(story, "never", "k", seconds(4));
  ASSERT_NE(a.answer->failure(), nullptr);
  EXPECT_EQ(a.answer->failure()->fate, fate::not_written);
  EXPECT_EQ(a.answer->failure()->cause, make_error_code(broker_errc::unknown_topic_or_partition));
  EXPECT_GE(a.took, seconds(3));
}

TEST(fault_meta, meta_10_partitions_shrink) {
  history story(curious_stage());
  warm_up(story);
  for (const int count : {1, -1, 0, 2}) {
    story.cluster().inject(metadata_lie{.topic = topic, .times = 2, .partition_count = count});
    story.run_for(seconds(3));
    const std::size_t a = produce(story, 2);
    ASSERT_TRUE(answered_within(story, seconds(3))) << count;
    EXPECT_TRUE(story.answer(a).is_delivered()) << count;
  }
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_12_one_rebootstrap) {
  history story(stage());
  warm_up(story);
  for (int broker = 1; broker <= 3; ++broker) story.cluster().stop_broker(broker, stop_kind::kill);
  const std::size_t a = produce(story, 0);
  story.run_for(seconds(6));
  for (int broker = 1; broker <= 3; ++broker) story.cluster().start_broker(broker);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(wait_for(story.world(), story.producer().status()).rebootstraps, 1U);
  story.run_for(std::chrono::minutes(5));
  EXPECT_EQ(wait_for(story.world(), story.producer().status()).rebootstraps, 1U);
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_13_partition_left_out_a) {
  history story(curious_stage());
  story.cluster().inject(
      metadata_lie{.topic = topic, .times = 2, .partition = 1, .leave_out_partition = true});
  warm_up(story);
  EXPECT_EQ(story.counts().delivered, 3U) << "cold";
  story.cluster().inject(
      metadata_lie{.topic = topic, .times = 1, .partition = 1, .leave_out_partition = true});
  story.run_for(seconds(1));
  const std::size_t a = produce(story, 1);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_13_partition_left_out_b) {
  history story(curious_stage());
  warm_up(story);
  story.cluster().inject(metadata_lie{.topic = topic, .leader = broker_id{}});
  story.run_for(seconds(1));
  const std::size_t a = produce(story, 1);
  story.run_for(seconds(2));
  EXPECT_EQ(story.answered(), a) << "it waits";
  story.cluster().clear_faults();
  ASSERT_TRUE(answered_within(story, milliseconds(2200)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_14_topic_ids_per_request_a) {
  history story(curious_stage());
  story.cluster().inject(metadata_lie{.topic = topic, .without_topic_id = true});
  warm_up(story);
  EXPECT_EQ(story.counts().delivered, 3U);
  story.cluster().clear_faults();  // the id is learned, which is no other topic
  story.run_for(seconds(2));
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_14_topic_ids_per_request_b) {
  history story(curious_stage());
  warm_up(story);
  fault slow;
  slow.topic = topic;
  slow.partition = 0;
  slow.answer_after = milliseconds(1500);
  story.cluster().inject(slow);
  // The answer comes when the map was refreshed twice, once without ids.
  story.cluster().inject(metadata_lie{.topic = topic, .times = 1, .without_topic_id = true});
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, milliseconds(1600)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_meta, meta_16_broker_is_its_id_b) {
  history story(stage());
  warm_up(story);
  fault mute;
  mute.topic = topic;
  mute.partition = 0;
  mute.reply = reply::never;
  story.cluster().inject(mute);
  const std::size_t a = produce(story, 0);
  story.run_for(milliseconds(100));
  const broker_id moved = story.cluster().view(topic, 0)->leader;
  story.cluster().move_broker(moved, 19999);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.cluster().counters().batches_deduplicated, 1U) << "the same tuple";
  const producer_status status = wait_for(story.world(), story.producer().status());
  EXPECT_EQ(status.partitions.at(0).epoch_bumps, 0U);
  for (const broker_status& each : status.brokers)
    if (each.id == moved) {
      EXPECT_EQ(each.port, 19999);
    }
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_seq, seq_23_numbering_outlives_the_topic) {
  history story(curious_stage());
  warm_up(story);
  story.cluster().inject(
      metadata_lie{.topic = topic, .topic_code = broker_errc::unknown_topic_or_partition});
  story.run_for(std::chrono::minutes(10));
  story.cluster().clear_faults();
  const std::size_t b = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  ASSERT_TRUE(story.answer(b).is_delivered());
  const auto batches = story.cluster().batches(topic, 0);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].producer_epoch, batches[0].producer_epoch);
  EXPECT_EQ(batches[1].base_sequence, sequence(1));
  EXPECT_EQ(story.verdict(), "");
}

// metadata.max.idle.ms: a topic that is not asked about keeps its numbering too.
TEST(fault_seq, seq_23_numbering_outlives_the_topic_b) {
  history_options options = curious_stage();
  options.config.metadata_max_idle = seconds(5);
  history story(options);
  warm_up(story);
  story.run_for(seconds(20));
  const std::uint64_t idle = story.cluster().counters().requests;
  story.run_for(seconds(60));
  EXPECT_EQ(story.cluster().counters().requests, idle) << "asked about a forgotten topic";
  const int next = story.cluster().view(topic, 0)->leader.value == 2 ? 3 : 2;
  ASSERT_TRUE(story.cluster().move_leader(topic, 0, next));
  const std::size_t b = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(2)));
  EXPECT_TRUE(story.answer(b).is_delivered());
  EXPECT_EQ(story.cluster().batches(topic, 0).at(1).base_sequence, sequence(1));
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_odd, odd_06_throttled) {
  history story(stage());
  warm_up(story);
  fault throttled;
  throttled.topic = topic;
  throttled.partition = 0;
  throttled.throttle = seconds(5);
  story.cluster().inject(throttled);
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  const std::size_t b = produce(story, 0);
  const std::size_t c = produce(story, 1);
  story.run_for(milliseconds(4800));
  EXPECT_TRUE(story.answer(c).is_delivered()) << "others go on";
  EXPECT_EQ(story.cluster().log(topic, 0).size(), 2U);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(b).is_delivered());
}

TEST(fault_odd, odd_06_throttled_without_sense) {
  history_options options = stage();
  options.config.delivery_timeout = std::chrono::minutes(3);
  history story(options);
  warm_up(story);
  fault throttled;
  throttled.topic = topic;
  throttled.partition = 0;
  throttled.throttle = milliseconds(std::numeric_limits<std::int32_t>::max());
  story.cluster().inject(throttled);
  produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  // The model's broker means it, and mutes that connection; a new one is served.
  const std::size_t b = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(80)));
  EXPECT_TRUE(story.answer(b).is_delivered());
}

TEST(fault_odd, odd_04_impossible_offsets_c) {
  history story(stage());
  warm_up(story);
  fault nowhere;
  nowhere.topic = topic;
  nowhere.partition = 0;
  nowhere.base_offset = offset(-7);
  story.cluster().inject(nowhere);
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  ASSERT_NE(story.answer(a).failure(), nullptr);
  EXPECT_EQ(story.answer(a).failure()->fate, fate::unknown);
  const producer_status status = wait_for(story.world(), story.producer().status());
  EXPECT_EQ(status.contradictions, 1U);
  EXPECT_EQ(status.partitions.at(0).state, partition_state::halted);
}

}  // namespace
}  // namespace partita::testing
