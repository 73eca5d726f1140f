// Metadata: brokers, topics, partitions and their leaders.
#pragma once

#include "wire/frame.hpp"
#include "wire/messages/node_endpoint.hpp"

#include <limits>

namespace partita::wire {

struct metadata_response;

struct metadata_request {
  static constexpr api_key key = api_key::metadata;
  static constexpr version_range versions{0, 13};
  static constexpr std::int16_t first_flexible = 9;
  using response_type = metadata_response;

  struct topic {
    partita::topic_id topic_id;
    std::optional<std::string> name;

    static void describe(auto& io, auto& m) {
      io.since(10, m.topic_id);
      io.nullable_since(10, m.name);
    }
    friend bool operator==(const topic&, const topic&) = default;
  };

  /// Null asks for all topics, empty for none. In version 0 null does not exist and empty means
  /// all.
  std::optional<std::vector<topic>> topics;
  bool allow_auto_topic_creation = true;
  bool include_cluster_authorized_operations = false;
  bool include_topic_authorized_operations = false;

  static void describe(auto& io, auto& m) {
    io.nullable_since(1, m.topics);
    io.since(4, m.allow_auto_topic_creation, defaults_to(true));
    io.between(8, 10, m.include_cluster_authorized_operations);
    io.since(8, m.include_topic_authorized_operations);
  }
  friend bool operator==(const metadata_request&, const metadata_request&) = default;
};

struct metadata_response {
  static constexpr api_key key = api_key::metadata;
  static constexpr version_range versions{0, 13};
  static constexpr std::int16_t first_flexible = 9;
  static constexpr std::int32_t operations_unknown = std::numeric_limits<std::int32_t>::min();

  struct broker {
    broker_id node_id;
    std::string host;
    std::int32_t port = 0;
    std::optional<std::string> rack;

    static void describe(auto& io, auto& m) {
      io(m.node_id, m.host, m.port);
      io.since(1, m.rack, ignorable);
    }
    friend bool operator==(const broker&, const broker&) = default;
  };
  struct partition {
    broker_errc error_code = broker_errc::none;
    partition_id index;
    broker_id leader;  ///< not known() while there is none
    partita::leader_epoch leader_epoch;
    std::vector<broker_id> replicas;
    std::vector<broker_id> in_sync;
    std::vector<broker_id> offline;

    static void describe(auto& io, auto& m) {
      io(m.error_code, m.index, m.leader);
      io.since(7, m.leader_epoch, ignorable);
      io(m.replicas, m.in_sync);
      io.since(5, m.offline, ignorable);
    }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> name;  ///< null from 12 on for an id that is not known
    partita::topic_id topic_id;
    bool is_internal = false;
    std::vector<partition> partitions;
    std::int32_t authorized_operations = operations_unknown;

    static void describe(auto& io, auto& m) {
      io(m.error_code);
      io.nullable_since(12, m.name);
      io.since(10, m.topic_id, ignorable);
      io.since(1, m.is_internal, ignorable);
      io(m.partitions);
      io.since(8, m.authorized_operations, ignorable);
    }
    friend bool operator==(const topic&, const topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<broker> brokers;
  std::optional<std::string> cluster_id;
  broker_id controller;
  std::vector<topic> topics;
  std::int32_t cluster_authorized_operations = operations_unknown;
  broker_errc error_code = broker_errc::none;  ///< REBOOTSTRAP_REQUIRED (KIP-1102)

  static void describe(auto& io, auto& m) {
    io.since(3, m.throttle_time_ms, ignorable);
    io(m.brokers);
    io.since(2, m.cluster_id, ignorable);
    io.since(1, m.controller, ignorable);
    io(m.topics);
    io.between(8, 10, m.cluster_authorized_operations, ignorable);
    io.since(13, m.error_code, ignorable);
  }
  friend bool operator==(const metadata_response&, const metadata_response&) = default;
};

PARTITA_WIRE_DECLARE_MESSAGE(metadata);

}  // namespace partita::wire
