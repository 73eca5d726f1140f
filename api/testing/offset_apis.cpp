// The answers that look into a partition's log.
#include "api/testing/broker_apis.hpp"

#include <algorithm>

namespace partita::testing {
namespace {

// None if `epoch` may ask this leader, else 74 or 75 (KIP-320).
broker_errc check_epoch(const partition_model& partition, std::int32_t epoch) {
  if (epoch < 0 || epoch == partition.leader_epoch()) return broker_errc::none;
  return epoch < partition.leader_epoch() ? broker_errc::fenced_leader_epoch
                                          : broker_errc::unknown_leader_epoch;
}

struct found_leader {
  partition_model* partition = nullptr;
  broker_errc code = broker_errc::none;
};

found_leader find_leader(cluster_state& state, const call& call, std::string_view name,
                         std::int32_t index, std::int32_t epoch) {
  if (state.denied(right::describe, name))
    return {nullptr, broker_errc::topic_authorization_failed};
  auto* topic = state.topic(name);
  auto* partition = topic == nullptr ? nullptr : topic->partition(index);
  if (partition == nullptr) return {nullptr, broker_errc::unknown_topic_or_partition};
  if (partition->leader() != call.broker) return {nullptr, broker_errc::not_leader_or_follower};
  return {partition, check_epoch(*partition, epoch)};
}

struct timed_offset {
  std::int64_t offset = -1;
  std::int64_t timestamp = -1;
  std::int32_t leader_epoch = -1;
};

// The first record, in the order of offsets, for which `wanted` holds.
template <class Wanted>
timed_offset find_record(const partition_model& partition, Wanted&& wanted) {
  const auto& log = partition.log();
  for (const auto& batch : log.batches()) {
    if (batch->last_offset() >= partition.high_watermark()) break;
    const auto& header = batch->header;
    const auto unpacked = unpack(batch->bytes, header);
    for (const auto& record : unpacked.records) {
      const auto at = header.base_offset + record.offset_delta;
      const auto time = (header.attributes & attribute_log_append_time) != 0
                            ? header.max_timestamp
                            : header.base_timestamp + record.timestamp_delta;
      if (at >= log.start() && wanted(time)) return {at, time, header.leader_epoch};
    }
  }
  return {};
}

timed_offset find_offset(const partition_model& partition, std::int64_t timestamp, bool committed) {
  constexpr std::int64_t newest = -3;
  constexpr std::int64_t local_start = -4;
  if (timestamp == wire::latest_offset)
    return {committed ? partition.last_stable_offset() : partition.high_watermark(), -1,
            partition.leader_epoch()};
  if (timestamp == wire::earliest_offset || timestamp == local_start)
    return {partition.log().start(), -1, partition.leader_epoch()};
  if (timestamp == newest) {
    std::int64_t largest = -1;
    for (const auto& batch : partition.log().batches())
      if (batch->last_offset() < partition.high_watermark() && batch->header.record_count > 0)
        largest = std::max(largest, batch->header.max_timestamp);
    if (largest < 0) return {};
    return find_record(partition, [&](std::int64_t time) { return time >= largest; });
  }
  if (timestamp < 0) return {};
  return find_record(partition, [&](std::int64_t time) { return time >= timestamp; });
}

}  // namespace

wire::list_offsets_response answer(cluster_state& state, const call& call,
                                   const wire::list_offsets_request& request) {
  wire::list_offsets_response made;
  for (const auto& topic : request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = topic.name;
    for (const auto& asked : topic.partitions) {
      auto& part = entry.partitions.emplace_back();
      part.index = asked.index;
      const auto found =
          find_leader(state, call, topic.name, asked.index.value, asked.current_leader_epoch.value);
      part.error_code = found.code;
      if (found.code != broker_errc::none) continue;
      auto place = find_offset(*found.partition, asked.timestamp, request.isolation_level != 0);
      if (request.replica_id.value == wire::debugging_replica &&
          asked.timestamp == wire::latest_offset)
        place.offset = found.partition->log().end();
      part.timestamp = place.timestamp;
      part.offset = place.offset;
      part.leader_epoch = place.leader_epoch;
    }
  }
  return made;
}

wire::describe_producers_response answer(cluster_state& state, const call& call,
                                         const wire::describe_producers_request& request) {
  wire::describe_producers_response made;
  for (const auto& asked : request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = asked.name;
    auto* topic = state.topic(asked.name);
    for (const auto index : asked.partitions) {
      auto& part = entry.partitions.emplace_back();
      part.index = index;
      if (state.denied(right::read, topic == nullptr ? asked.name : topic->name)) {
        part.error_code = broker_errc::topic_authorization_failed;
        continue;
      }
      const auto* partition = topic == nullptr ? nullptr : topic->partition(index.value);
      if (partition == nullptr) {
        part.error_code = broker_errc::unknown_topic_or_partition;
        if (topic == nullptr) part.error_message = "no such topic";
        continue;
      }
      const auto* replica = partition->find(call.broker);  // any replica knows, not only the leader
      if (replica == nullptr) {
        part.error_code = broker_errc::not_leader_or_follower;
        continue;
      }
      for (const auto& [id, producer] : replica->log.producers().producers()) {
        auto& view = part.producers.emplace_back();
        view.producer_id = id;
        view.producer_epoch = producer.epoch;
        view.last_sequence = producer.window.empty() ? -1 : producer.window.back().last_sequence;
        view.last_timestamp = producer.last_timestamp_ms;
        view.coordinator_epoch = producer.coordinator_epoch;
        view.transaction_start_offset = producer.transaction_start;
      }
    }
  }
  return made;
}

offset_for_leader_epoch_response answer(cluster_state& state, const call& call,
                                        const offset_for_leader_epoch_request& request) {
  offset_for_leader_epoch_response made;
  for (const auto& topic : request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = topic.name;
    for (const auto& asked : topic.partitions) {
      auto& part = entry.partitions.emplace_back();
      part.index = asked.index;
      const auto found =
          find_leader(state, call, topic.name, asked.index, asked.current_leader_epoch);
      part.error_code = found.code;
      if (found.code != broker_errc::none) continue;
      // The end of the newest epoch that is not newer than the one asked for.
      part.leader_epoch = asked.leader_epoch;
      part.end_offset = found.partition->log().end();
      for (const auto& batch : found.partition->log().batches())
        if (batch->header.leader_epoch > asked.leader_epoch) {
          part.end_offset = batch->first_offset();
          break;
        }
    }
  }
  return made;
}

}  // namespace partita::testing
