// Fetch: record batches of a partition's log, for settlement and for log readers. Without fetch
// sessions (KIP-227): session 0, epoch -1.
#pragma once

#include "wire/frame.hpp"
#include "wire/messages/node_endpoint.hpp"

#include <limits>

namespace partita::wire {

struct fetch_response;

struct fetch_request {
  static constexpr api_key key = api_key::fetch;
  static constexpr version_range versions{4, 18};
  static constexpr std::int16_t first_flexible = 12;
  using response_type = fetch_response;

  struct partition {
    partition_id index;
    leader_epoch current_leader_epoch;
    offset fetch_offset = 0;
    leader_epoch last_fetched_epoch;
    offset log_start_offset;
    std::int32_t partition_max_bytes = 1 << 20;
    partita::topic_id replica_directory_id;  ///< brokers only; a uuid like a topic's
    std::int64_t high_watermark = std::numeric_limits<std::int64_t>::max();  ///< brokers only

    static void describe(auto& io, auto& m) {
      io(m.index);
      io.since(9, m.current_leader_epoch, ignorable);
      io(m.fetch_offset);
      io.since(12, m.last_fetched_epoch);
      io.since(5, m.log_start_offset, ignorable);
      io(m.partition_max_bytes);
      io.tagged(0, 17, m.replica_directory_id, ignorable);
      io.tagged(1, 18, m.high_watermark, defaults_to(std::numeric_limits<std::int64_t>::max()));
    }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    std::string name;  ///< not sent from 13 on
    partita::topic_id topic_id;
    std::vector<partition> partitions;

    static void describe(auto& io, auto& m) {
      io.until(12, m.name, ignorable);
      io.since(13, m.topic_id, ignorable);
      io(m.partitions);
    }
    friend bool operator==(const topic&, const topic&) = default;
  };
  struct forgotten_topic {
    std::string name;
    partita::topic_id topic_id;
    std::vector<partition_id> partitions;

    static void describe(auto& io, auto& m) {
      io.until(12, m.name, ignorable);
      io.since(13, m.topic_id, ignorable);
      io(m.partitions);
    }
    friend bool operator==(const forgotten_topic&, const forgotten_topic&) = default;
  };
  struct replica_state {
    broker_id replica_id;
    std::int64_t replica_epoch = -1;

    static void describe(auto& io, auto& m) { io(m.replica_id, m.replica_epoch); }
    friend bool operator==(const replica_state&, const replica_state&) = default;
  };

  broker_id replica_id;
  std::int32_t max_wait_ms = 0;
  std::int32_t min_bytes = 0;
  std::int32_t max_bytes = std::numeric_limits<std::int32_t>::max();
  std::int8_t isolation_level = 0;
  std::int32_t session_id = 0;
  std::int32_t session_epoch = -1;
  std::vector<topic> topics;
  std::vector<forgotten_topic> forgotten_topics;
  std::string rack_id;
  std::optional<std::string> cluster_id;
  fetch_request::replica_state replica;

  static void describe(auto& io, auto& m) {
    io.until(14, m.replica_id);
    io(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level);
    io.since(7, m.session_id);
    io.since(7, m.session_epoch, defaults_to(-1));
    io(m.topics);
    io.since(7, m.forgotten_topics);
    io.since(11, m.rack_id, ignorable);
    io.tagged(0, 12, m.cluster_id, ignorable);
    io.tagged(1, 15, m.replica);
  }
  friend bool operator==(const fetch_request&, const fetch_request&) = default;
};

struct fetch_response {
  static constexpr api_key key = api_key::fetch;
  static constexpr version_range versions{4, 18};
  static constexpr std::int16_t first_flexible = 12;

  struct epoch_end {
    partita::leader_epoch epoch;
    offset end_offset;

    static void describe(auto& io, auto& m) { io(m.epoch, m.end_offset); }
    friend bool operator==(const epoch_end&, const epoch_end&) = default;
  };
  struct snapshot {
    offset end_offset;
    partita::leader_epoch epoch;

    static void describe(auto& io, auto& m) { io(m.end_offset, m.epoch); }
    friend bool operator==(const snapshot&, const snapshot&) = default;
  };
  struct aborted_transaction {
    partita::producer_id producer_id;
    offset first_offset;

    static void describe(auto& io, auto& m) { io(m.producer_id, m.first_offset); }
    friend bool operator==(const aborted_transaction&, const aborted_transaction&) = default;
  };
  struct partition {
    partition_id index;
    broker_errc error_code = broker_errc::none;
    offset high_watermark;
    offset last_stable_offset;
    offset log_start_offset;
    std::optional<std::vector<aborted_transaction>> aborted_transactions;
    broker_id preferred_read_replica;
    record_bytes records;  ///< a view of the frame
    epoch_end diverging_epoch;
    leader_hint current_leader;
    snapshot snapshot_id;

    static void describe(auto& io, auto& m) {
      io(m.index, m.error_code, m.high_watermark, m.last_stable_offset);
      io.since(5, m.log_start_offset, ignorable);
      io(m.aborted_transactions);
      io.since(11, m.preferred_read_replica, ignorable);
      io(m.records);
      io.tagged(0, 12, m.diverging_epoch, ignorable);
      io.tagged(1, 12, m.current_leader, ignorable);
      io.tagged(2, 12, m.snapshot_id, ignorable);
    }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    std::string name;
    partita::topic_id topic_id;
    std::vector<partition> partitions;

    static void describe(auto& io, auto& m) {
      io.until(12, m.name, ignorable);
      io.since(13, m.topic_id, ignorable);
      io(m.partitions);
    }
    friend bool operator==(const topic&, const topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  broker_errc error_code = broker_errc::none;
  std::int32_t session_id = 0;
  std::vector<topic> topics;
  std::vector<node_endpoint> node_endpoints;

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms);
    io.since(7, m.error_code, ignorable);
    io.since(7, m.session_id);
    io(m.topics);
    io.tagged(0, 16, m.node_endpoints, ignorable);
  }
  friend bool operator==(const fetch_response&, const fetch_response&) = default;
};

PARTITA_WIRE_DECLARE_MESSAGE(fetch);

}  // namespace partita::wire
