#include "api/testing/partition_model.hpp"

#include "testing_batches.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

constexpr std::int64_t now = 1'000'100;

struct led_partition {
  explicit led_partition(std::vector<std::int32_t> brokers = {1, 2, 3}) : model(0, brokers) {}

  produce_result append(const batch_spec& spec, std::int16_t acks = -1) {
    const auto bytes = make_batch(spec);
    auto result = model.append({bytes, acks, now, emulation::kafka_4_4}, settings);
    if (result.committed_at >= 0) model.replicate(settings);
    return result;
  }
  batch_spec next(std::int32_t sequence) const {
    return {.producer_id = 7, .epoch = 0, .sequence = sequence};
  }

  partition_model model;
  topic_settings settings;
};

TEST(PartitionModel, AppendsAtTheEndAndStampsPlaceAndEpoch) {
  led_partition partition;
  auto spec = partition.next(0);
  spec.values = {"a", "b"};
  EXPECT_EQ(partition.append(spec).base_offset, 0);
  EXPECT_EQ(partition.append(partition.next(2)).base_offset, 2);
  const auto& stored = *partition.model.log().batches()[1];
  EXPECT_EQ(stored.header.base_offset, 2);
  EXPECT_EQ(stored.header.leader_epoch, 0);
  EXPECT_EQ(batch_checksum(stored.bytes), stored.header.checksum);
  EXPECT_EQ(partition.model.high_watermark(), 3);
}

TEST(PartitionModel, AnswersADuplicateWithTheStoredBatch) {
  led_partition partition;
  auto first = partition.next(0);
  first.values = {"a", "b"};
  partition.append(first);
  auto other_bytes = first;
  other_bytes.values = {"c", "d"};
  const auto again = partition.append(other_bytes);
  EXPECT_EQ(again.code, broker_errc::none);
  EXPECT_TRUE(again.deduplicated);
  EXPECT_EQ(again.base_offset, 0);
  EXPECT_EQ(again.log_append_ms, first.timestamp + 1);
  EXPECT_EQ(partition.model.log().batches().size(), 1U);
}

TEST(PartitionModel, ContentChecksComeBeforeTheSearchForDuplicates) {
  led_partition partition;
  partition.append(partition.next(0));
  auto damaged = partition.next(0);
  damaged.spoil_checksum = 1;
  EXPECT_EQ(partition.append(damaged).code, broker_errc::corrupt_message);
  partition.settings.max_message_bytes = 10;
  EXPECT_EQ(partition.append(partition.next(0)).code, broker_errc::message_too_large);
  partition.settings = {};
  partition.settings.timestamp_before_max_ms = 1;
  EXPECT_EQ(partition.append(partition.next(0)).code, broker_errc::invalid_timestamp);
  partition.settings = {};
  partition.settings.segment_bytes = 20;
  EXPECT_EQ(partition.append(partition.next(0)).code, broker_errc::record_list_too_large);
  partition.settings = {};
  EXPECT_TRUE(partition.append(partition.next(0)).deduplicated);
}

TEST(PartitionModel, TheFirstFaultInTheBrokersOrderIsReported) {
  led_partition partition;
  partition.settings.max_message_bytes = 200;
  partition.settings.compacted = true;
  batch_spec spec{.producer_id = 7, .epoch = 1, .sequence = 0};
  ASSERT_EQ(partition.append(spec).code, broker_errc::none);
  spec = {.producer_id = 7, .epoch = 0, .sequence = 9};
  EXPECT_EQ(partition.append(spec).code, broker_errc::invalid_producer_epoch);
  spec.key.reset();
  EXPECT_EQ(partition.append(spec).code, broker_errc::invalid_record);
  spec.spoil_checksum = 1;
  EXPECT_EQ(partition.append(spec).code, broker_errc::corrupt_message);
  spec.values = {std::string(300, 'x')};
  EXPECT_EQ(partition.append(spec).code, broker_errc::message_too_large);
  spec.base_offset = 7;
  EXPECT_EQ(partition.append(spec).code, broker_errc::invalid_record);
}

TEST(PartitionModel, NamesTheRecordsThatAreAtFault) {
  led_partition partition;
  partition.settings.compacted = true;
  batch_spec spec;
  spec.values = {"a", "b"};
  spec.key.reset();
  const auto result = partition.append(spec);
  EXPECT_EQ(result.code, broker_errc::invalid_record);
  ASSERT_EQ(result.record_faults.size(), 2U);
  EXPECT_EQ(result.record_faults[1].index, 1);
  EXPECT_TRUE(result.message);
  EXPECT_EQ(result.log_start, 0);
}

TEST(PartitionModel, RefusesCountsThatDoNotFit) {
  led_partition partition;
  batch_spec spec;
  spec.values = {"a", "b"};
  spec.record_count = 3;
  EXPECT_EQ(partition.append(spec).code, broker_errc::invalid_record);
  spec.last_offset_delta = 2;
  EXPECT_EQ(partition.append(spec).code, broker_errc::invalid_record);
  spec.record_count = -1;
  EXPECT_EQ(partition.append(spec).code, broker_errc::invalid_record);
}

TEST(PartitionModel, LogAppendTimeRewritesTheBatch) {
  led_partition partition;
  partition.settings.log_append_time = true;
  const auto result = partition.append(partition.next(0));
  EXPECT_EQ(result.log_append_ms, now);
  const auto& stored = *partition.model.log().batches().front();
  EXPECT_EQ(stored.header.max_timestamp, now);
  EXPECT_EQ(stored.header.base_timestamp, 1'000'000);
  EXPECT_EQ(stored.header.attributes, attribute_log_append_time);
  EXPECT_EQ(batch_checksum(stored.bytes), stored.header.checksum);
}

TEST(PartitionModel, CorrectsTheLargestTimestamp) {
  led_partition partition;
  auto spec = partition.next(0);
  spec.max_timestamp = 5'000'000;
  partition.append(spec);
  EXPECT_EQ(partition.model.log().batches().front()->header.max_timestamp, spec.timestamp);
}

TEST(PartitionModel, TooFewReplicasRefuseAcksAllOnly) {
  led_partition partition;
  partition.settings.min_in_sync = 2;
  partition.model.set_running(2, false);
  partition.model.set_running(3, false);
  EXPECT_EQ(partition.append(partition.next(0), -1).code, broker_errc::not_enough_replicas);
  EXPECT_EQ(partition.append(partition.next(0), 1).code, broker_errc::none);
  EXPECT_EQ(partition.model.high_watermark(), 0);  // since 3.7 it stands still below the minimum
  partition.model.set_running(2, true);
  EXPECT_TRUE(partition.model.replicate(partition.settings));
  EXPECT_EQ(partition.model.high_watermark(), 1);
}

TEST(PartitionModel, AHeldFollowerHoldsTheHighWatermark) {
  led_partition partition;
  partition.model.set_fetching(2, false);
  const auto result = partition.append(partition.next(0));
  EXPECT_EQ(result.committed_at, 1);
  EXPECT_EQ(partition.model.committed(1, 1, 0, partition.settings), commit_state::waiting);
  partition.model.leave_in_sync(2);
  partition.model.replicate(partition.settings);
  EXPECT_EQ(partition.model.committed(1, 1, 0, partition.settings), commit_state::committed);
}

TEST(PartitionModel, ALeaderWithoutTheTailForgetsItAndItsProducer) {
  led_partition partition;
  partition.append(partition.next(0));
  partition.model.set_fetching(2, false);
  partition.model.set_fetching(3, false);
  partition.append(partition.next(1));
  partition.model.lead(2);
  EXPECT_EQ(partition.model.committed(2, 1, 0, partition.settings), commit_state::lost_leadership);
  EXPECT_EQ(partition.model.leader_epoch(), 1);
  partition.model.set_fetching(2, true);
  partition.model.set_fetching(3, true);
  partition.model.replicate(partition.settings);
  EXPECT_EQ(partition.model.find(1)->log.end(), 1);  // the old leader dropped its tail
  EXPECT_EQ(partition.append(partition.next(2)).code, broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(partition.append(partition.next(1)).base_offset, 1);
}

TEST(PartitionModel, ATailThatWasNotFetchedFromTheNewLeaderCommitsNothingOfIts) {
  led_partition partition{{1, 2}};
  partition.model.set_fetching(2, false);
  partition.append(partition.next(0));
  partition.model.set_fetching(1, false);
  partition.model.lead(2);
  const auto result = partition.append(partition.next(0));  // in the place of the other one's tail
  EXPECT_EQ(partition.model.committed(1, 2, 1, partition.settings), commit_state::waiting);
  EXPECT_EQ(result.base_offset, 0);
  partition.model.set_fetching(1, true);
  partition.model.set_fetching(2, true);
  partition.model.replicate(partition.settings);
  EXPECT_EQ(partition.model.committed(1, 2, 1, partition.settings), commit_state::committed);
}

TEST(PartitionModel, AFollowerThatLeadsKnowsTheLastFiveBatches) {
  led_partition partition;
  for (std::int32_t sequence = 0; sequence < 6; ++sequence)
    partition.append(partition.next(sequence));
  partition.model.lead(3);
  EXPECT_TRUE(partition.append(partition.next(1)).deduplicated);
  EXPECT_EQ(partition.append(partition.next(0)).code, broker_errc::out_of_order_sequence_number);
}

TEST(PartitionModel, ARestartedLeaderKnowsOneBatch) {
  led_partition partition{{1}};
  for (std::int32_t sequence = 0; sequence < 3; ++sequence)
    partition.append(partition.next(sequence));
  partition.model.set_running(1, false);
  EXPECT_EQ(partition.model.leader(), -1);
  partition.model.set_running(1, true);
  ASSERT_EQ(partition.model.leader(), 1);
  EXPECT_EQ(partition.append(partition.next(1)).code, broker_errc::out_of_order_sequence_number);
  EXPECT_TRUE(partition.append(partition.next(2)).deduplicated);
}

TEST(PartitionModel, DeletedRecordsKeepTheProducerKnown) {
  led_partition partition;
  partition.append(partition.next(0));
  partition.append(partition.next(1));
  EXPECT_EQ(partition.model.delete_before(3), broker_errc::offset_out_of_range);
  EXPECT_EQ(partition.model.delete_before(2), broker_errc::none);
  const auto again = partition.append(partition.next(0));
  EXPECT_TRUE(again.deduplicated);
  EXPECT_EQ(again.log_start, 2);
  EXPECT_EQ(partition.append(partition.next(2)).base_offset, 2);
}

TEST(PartitionModel, RetentionDropsTheOldestBatchesButNotTheLast) {
  led_partition partition;
  for (std::int32_t sequence = 0; sequence < 4; ++sequence)
    partition.append(partition.next(sequence));
  const auto one = partition.model.log().bytes() / 4;
  partition.model.retain(one * 2);
  EXPECT_EQ(partition.model.log().start(), 2);
  EXPECT_EQ(partition.model.log().bytes(), one * 2);
  partition.model.retain(0);
  EXPECT_EQ(partition.model.log().start(), 3);
  EXPECT_EQ(partition.append(partition.next(4)).base_offset, 4);
}

TEST(PartitionModel, APausedLeaderServesNoFollower) {
  led_partition partition;
  partition.append(partition.next(0));
  partition.model.set_fetching(2, false);
  partition.model.set_fetching(3, false);
  partition.append(partition.next(1));
  partition.model.set_fetching(1, false);
  partition.model.set_fetching(2, true);
  partition.model.replicate(partition.settings);
  EXPECT_EQ(partition.model.find(2)->log.end(), 1);
}

TEST(BatchFraming, TellsNoBatchFromAnImpossibleOne) {
  const auto whole = make_batch({});
  const auto check = [](std::vector<std::byte> bytes) {
    return check_framing(bytes, 11).refused.code;
  };
  EXPECT_EQ(check({}), broker_errc::invalid_record);
  EXPECT_EQ(check({whole.begin(), whole.end() - 5}), broker_errc::invalid_record);
  EXPECT_EQ(check(make_batch({.batch_length = 0})), broker_errc::corrupt_message);
  EXPECT_EQ(check(make_batch({.batch_length = -1})), broker_errc::corrupt_message);
  EXPECT_EQ(check(make_batch({.magic = 1})), broker_errc::invalid_record);
  EXPECT_EQ(check(make_batch({.magic = 3})), broker_errc::corrupt_message);
  auto extra = whole;
  extra.insert(extra.end(), 5, std::byte{'x'});
  EXPECT_EQ(check(extra), broker_errc::none);
  auto twice = whole;
  twice.insert(twice.end(), whole.begin(), whole.end());
  EXPECT_EQ(check(twice), broker_errc::invalid_record);
}

TEST(BatchFraming, KnowsZstdFromVersionSevenOn) {
  const auto zstd = make_batch({.attributes = 4});
  EXPECT_EQ(check_framing(zstd, 6).refused.code, broker_errc::unsupported_compression_type);
  EXPECT_EQ(check_framing(zstd, 7).refused.code, broker_errc::none);
}

TEST(BatchBytes, EveryTruncationOfRecordsIsRefused) {
  batch_spec spec;
  spec.values = {"value one", "value two"};
  const auto batch = make_batch(spec);
  const auto payload = byte_view{batch}.subspan(batch_header_bytes);
  ASSERT_TRUE(parse_records(payload, 2));
  for (std::size_t size = 0; size < payload.size(); ++size)
    EXPECT_FALSE(parse_records(payload.first(size), 2)) << size;
  EXPECT_FALSE(parse_records(payload, 1));
  EXPECT_FALSE(parse_records(payload, 3));
}

}  // namespace
}  // namespace partita::testing
