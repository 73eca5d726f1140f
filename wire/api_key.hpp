// The APIs of the protocol: their numbers, the versions partita speaks, where flexible encoding
// begins.
//
// Invariants
// 1. A range in spoken_versions() lies inside the range that the message's describe() covers;
//    brokers from 2.1 (the KIP-896 baseline) to 4.4 share at least one version of each with us.
// 2. first_flexible() is the only place that knows where flexible encoding starts; the request
//    header of an API that we do not describe can still be parsed with it.
//
// Threads: constants only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace partita::wire {

enum class api_key : std::int16_t {
  produce = 0,
  fetch = 1,
  list_offsets = 2,
  metadata = 3,
  find_coordinator = 10,
  sasl_handshake = 17,
  api_versions = 18,
  create_topics = 19,
  delete_topics = 20,
  delete_records = 21,
  init_producer_id = 22,
  offset_for_leader_epoch = 23,
  add_partitions_to_txn = 24,
  add_offsets_to_txn = 25,
  end_txn = 26,
  txn_offset_commit = 28,
  describe_configs = 32,
  sasl_authenticate = 36,
  create_partitions = 37,
  elect_leaders = 43,
  incremental_alter_configs = 44,
  alter_partition_reassignments = 45,
  describe_quorum = 55,
  describe_cluster = 60,
  describe_producers = 61,
};

/// Versions first to last, both included.
struct version_range {
  std::int16_t first = 0;
  std::int16_t last = 0;

  [[nodiscard]] constexpr bool contains(std::int16_t version) const noexcept {
    return first <= version && version <= last;
  }
  friend constexpr bool operator==(version_range, version_range) noexcept = default;
};

/// What the client asks for. Absent for an API it never calls.
constexpr std::optional<version_range> spoken_versions(api_key key) noexcept {
  switch (key) {
    case api_key::produce:
      return version_range{3, 13};
    case api_key::fetch:
      return version_range{4, 17};
    case api_key::list_offsets:
      return version_range{1, 10};
    case api_key::metadata:
      return version_range{4, 13};
    case api_key::api_versions:
      return version_range{0, 4};
    case api_key::init_producer_id:
      return version_range{0, 5};
    case api_key::describe_producers:
      return version_range{0, 0};
    default:
      return std::nullopt;
  }
}

/// The highest version both sides know; absent if there is none.
constexpr std::optional<std::int16_t> highest_common(version_range ours,
                                                     version_range theirs) noexcept {
  const std::int16_t last = ours.last < theirs.last ? ours.last : theirs.last;
  const std::int16_t first = ours.first > theirs.first ? ours.first : theirs.first;
  if (last < first) return std::nullopt;
  return last;
}

/// First version with compact lengths and tagged fields (KIP-482); the largest number where there
/// is none.
constexpr std::int16_t first_flexible(api_key key) noexcept {
  switch (key) {
    case api_key::produce:
      return 9;
    case api_key::fetch:
      return 12;
    case api_key::list_offsets:
      return 6;
    case api_key::metadata:
      return 9;
    case api_key::find_coordinator:
      return 3;
    case api_key::sasl_handshake:
      return std::numeric_limits<std::int16_t>::max();
    case api_key::api_versions:
      return 3;
    case api_key::create_topics:
      return 5;
    case api_key::delete_topics:
      return 4;
    case api_key::delete_records:
      return 2;
    case api_key::init_producer_id:
      return 2;
    case api_key::offset_for_leader_epoch:
      return 4;
    case api_key::add_partitions_to_txn:
      return 3;
    case api_key::add_offsets_to_txn:
      return 3;
    case api_key::end_txn:
      return 3;
    case api_key::txn_offset_commit:
      return 3;
    case api_key::describe_configs:
      return 4;
    case api_key::sasl_authenticate:
      return 2;
    case api_key::create_partitions:
      return 2;
    case api_key::elect_leaders:
      return 2;
    case api_key::incremental_alter_configs:
      return 1;
    case api_key::alter_partition_reassignments:
      return 0;
    case api_key::describe_quorum:
      return 0;
    case api_key::describe_cluster:
      return 0;
    case api_key::describe_producers:
      return 0;
  }
  return std::numeric_limits<std::int16_t>::max();
}

inline constexpr std::size_t fetch_answer_limit_default = std::size_t{64} << 20;

/// The longest answer that is accepted, counted behind the length prefix. A peer's length field
/// alone must never decide how much memory is used.
constexpr std::size_t answer_limit(api_key key,
                                   std::size_t fetch_limit = fetch_answer_limit_default) noexcept {
  switch (key) {
    case api_key::metadata:
      return std::size_t{64} << 20;
    case api_key::produce:
      return std::size_t{16} << 20;
    case api_key::fetch:
      return fetch_limit;
    default:
      return std::size_t{1} << 20;
  }
}

/// Kafka's name, for logs; "api" for a number that is not listed.
constexpr const char* name_of(api_key key) noexcept {
  switch (key) {
    case api_key::produce:
      return "Produce";
    case api_key::fetch:
      return "Fetch";
    case api_key::list_offsets:
      return "ListOffsets";
    case api_key::metadata:
      return "Metadata";
    case api_key::find_coordinator:
      return "FindCoordinator";
    case api_key::sasl_handshake:
      return "SaslHandshake";
    case api_key::api_versions:
      return "ApiVersions";
    case api_key::create_topics:
      return "CreateTopics";
    case api_key::delete_topics:
      return "DeleteTopics";
    case api_key::delete_records:
      return "DeleteRecords";
    case api_key::init_producer_id:
      return "InitProducerId";
    case api_key::offset_for_leader_epoch:
      return "OffsetForLeaderEpoch";
    case api_key::add_partitions_to_txn:
      return "AddPartitionsToTxn";
    case api_key::add_offsets_to_txn:
      return "AddOffsetsToTxn";
    case api_key::end_txn:
      return "EndTxn";
    case api_key::txn_offset_commit:
      return "TxnOffsetCommit";
    case api_key::describe_configs:
      return "DescribeConfigs";
    case api_key::sasl_authenticate:
      return "SaslAuthenticate";
    case api_key::create_partitions:
      return "CreatePartitions";
    case api_key::elect_leaders:
      return "ElectLeaders";
    case api_key::incremental_alter_configs:
      return "IncrementalAlterConfigs";
    case api_key::alter_partition_reassignments:
      return "AlterPartitionReassignments";
    case api_key::describe_quorum:
      return "DescribeQuorum";
    case api_key::describe_cluster:
      return "DescribeCluster";
    case api_key::describe_producers:
      return "DescribeProducers";
  }
  return "api";
}

}  // namespace partita::wire
