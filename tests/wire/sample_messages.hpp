// One filled-in message of each kind and version, used by the round-trip and the golden tests.
//
// Each sets exactly the fields that its version carries, so that it survives a round trip
// unchanged.
#pragma once

#include "tests/wire/hex.hpp"
#include "wire/messages/api_versions.hpp"
#include "wire/messages/describe_producers.hpp"
#include "wire/messages/fetch.hpp"
#include "wire/messages/init_producer_id.hpp"
#include "wire/messages/list_offsets.hpp"
#include "wire/messages/metadata.hpp"
#include "wire/messages/produce.hpp"

namespace partita::wire {

inline constexpr topic_id sample_topic_id{0x0011223344556677, 0x8899aabbccddeeff};

inline const std::vector<std::byte>& sample_batch() {
  static const std::vector<std::byte> bytes = from_hex(example_batch_hex);
  return bytes;
}

template <class Message>
Message sample(std::int16_t version);

template <>
inline produce_request sample<produce_request>(std::int16_t version) {
  produce_request::topic_data topic;
  if (version >= 13) {
    topic.topic_id = sample_topic_id;
  } else {
    topic.name = "orders";
  }
  topic.partitions = {{0, sample_batch()}, {7, sample_batch()}};
  return {std::nullopt, -1, 30000, {topic}};
}

template <>
inline produce_response sample<produce_response>(std::int16_t version) {
  produce_response::topic_answer topic;
  if (version >= 13) {
    topic.topic_id = sample_topic_id;
  } else {
    topic.name = "orders";
  }
  produce_response::partition_answer written{0, broker_errc::none, 41, -1, -1, {}, {}, {}};
  produce_response::partition_answer refused{7, broker_errc::invalid_record, -1, -1, -1, {}, {},
                                             {}};
  produce_response::partition_answer moved{
      8, broker_errc::not_leader_or_follower, -1, -1, -1, {}, {}, {}};
  if (version >= 5)
    written.log_start_offset = refused.log_start_offset = moved.log_start_offset = 3;
  if (version >= 8) {
    refused.record_errors = {{2, "bad"}, {3, std::nullopt}};
    refused.error_message = "Invalid";
  }
  if (version >= 10) moved.current_leader = {2, 9};
  topic.partitions = {written, refused, moved};
  produce_response answer{{topic}, 5, {}};
  if (version >= 10) answer.node_endpoints = {{2, "b2", 9092, std::nullopt}};
  return answer;
}

template <>
inline metadata_request sample<metadata_request>(std::int16_t version) {
  metadata_request::topic second{{}, "lost"};
  if (version >= 12) second = {sample_topic_id, std::nullopt};
  metadata_request request;
  request.topics = {{{}, "orders"}, second};
  request.include_topic_authorized_operations = version >= 8;
  return request;
}

template <>
inline metadata_response sample<metadata_response>(std::int16_t version) {
  metadata_response answer;
  answer.brokers = {{1, "b1", 9092, std::nullopt}, {2, "b2", 9093, std::nullopt}};
  metadata_response::partition led{broker_errc::none, 0, 1, -1, {1, 2}, {1}, {}};
  metadata_response::partition leaderless{
      broker_errc::leader_not_available, 1, -1, -1, {2}, {}, {}};
  metadata_response::topic orders;
  metadata_response::topic lost;
  orders.name = "orders";
  lost.name = "lost";
  lost.error_code = broker_errc::unknown_topic_or_partition;
  if (version >= 1) {
    answer.brokers[0].rack = "r1";
    answer.controller = 2;
  }
  if (version >= 2) answer.cluster_id = "C";
  if (version >= 3) answer.throttle_time_ms = 5;
  if (version >= 5) led.offline = leaderless.offline = {2};
  if (version >= 7) {
    led.leader_epoch = 4;
    leaderless.leader_epoch = 5;
  }
  if (version >= 8) orders.authorized_operations = 8;
  if (version >= 10) orders.topic_id = lost.topic_id = sample_topic_id;
  if (version >= 12) lost.name.reset();
  if (version >= 13) answer.error_code = broker_errc::rebootstrap_required;
  orders.partitions = {led, leaderless};
  answer.topics = {orders, lost};
  return answer;
}

template <>
inline api_versions_request sample<api_versions_request>(std::int16_t version) {
  api_versions_request request;
  if (version >= 3) {
    request.client_software_name = "partita";
    request.client_software_version = "0.1.0";
  }
  if (version >= 5) {
    request.cluster_id = "C";
    request.node_id = 2;
  }
  return request;
}

template <>
inline api_versions_response sample<api_versions_response>(std::int16_t version) {
  api_versions_response answer;
  answer.apis = {{0, 3, 13}, {18, 0, 4}};
  if (version >= 1) answer.throttle_time_ms = 5;
  if (version >= 3) {
    answer.supported_features = {{"transaction.version", 0, 2}};
    answer.finalized_features_epoch = 123;
    answer.finalized_features = {{"transaction.version", 2, 2}};
  }
  return answer;
}

template <>
inline init_producer_id_request sample<init_producer_id_request>(std::int16_t /*version*/) {
  return {std::nullopt, 60000, -1, -1};
}

template <>
inline init_producer_id_response sample<init_producer_id_response>(std::int16_t /*version*/) {
  return {5, broker_errc::none, 4242, 7};
}

template <>
inline list_offsets_request sample<list_offsets_request>(std::int16_t version) {
  list_offsets_request request;
  request.topics = {{"orders", {{3, -1, latest_offset}, {4, -1, 1700000000000}}}};
  if (version >= 2) request.isolation_level = 1;
  if (version >= 4) request.topics[0].partitions[0].current_leader_epoch = 6;
  if (version >= 10) request.timeout_ms = 700;
  return request;
}

template <>
inline list_offsets_response sample<list_offsets_response>(std::int16_t version) {
  list_offsets_response answer;
  answer.topics = {
      {"orders",
       {{3, broker_errc::none, -1, 99, -1}, {4, broker_errc::not_leader_or_follower, -1, -1, -1}}}};
  if (version >= 2) answer.throttle_time_ms = 5;
  if (version >= 4) answer.topics[0].partitions[0].leader_epoch = 6;
  return answer;
}

template <>
inline fetch_request sample<fetch_request>(std::int16_t version) {
  fetch_request::partition partition;
  partition.index = 3;
  partition.fetch_offset = 40;
  partition.partition_max_bytes = 65536;
  if (version >= 9) partition.current_leader_epoch = 6;
  fetch_request::topic topic;
  if (version >= 13) {
    topic.topic_id = sample_topic_id;
  } else {
    topic.name = "orders";
  }
  topic.partitions = {partition};
  fetch_request request;
  request.max_wait_ms = 500;
  request.min_bytes = 1;
  request.max_bytes = 1048576;
  request.isolation_level = 1;
  request.topics = {topic};
  if (version >= 11) request.rack_id = "r1";
  return request;
}

template <>
inline fetch_response sample<fetch_response>(std::int16_t version) {
  fetch_response::partition partition;
  partition.index = 3;
  partition.high_watermark = 42;
  partition.last_stable_offset = 41;
  if (version >= 5) partition.log_start_offset = 2;
  partition.aborted_transactions = {{4242, 17}};
  partition.records = sample_batch();
  fetch_response::topic topic;
  if (version >= 13) {
    topic.topic_id = sample_topic_id;
  } else {
    topic.name = "orders";
  }
  topic.partitions = {partition};
  fetch_response answer;
  answer.throttle_time_ms = 5;
  answer.topics = {topic};
  return answer;
}

template <>
inline describe_producers_request sample<describe_producers_request>(std::int16_t /*version*/) {
  return {{{"orders", {0, 7}}}};
}

template <>
inline describe_producers_response sample<describe_producers_response>(std::int16_t /*version*/) {
  describe_producers_response answer;
  answer.throttle_time_ms = 5;
  answer.topics = {{"orders",
                    {{0, broker_errc::none, std::nullopt, {{4242, 7, 102, 1700000000005, -1, -1}}},
                     {7, broker_errc::not_leader_or_follower, "no", {}}}}};
  return answer;
}

}  // namespace partita::wire
