// Produce: record batches to the leaders of their partitions.
//
// A partition must not appear twice in one request: brokers keep the last one and ignore the others
// silently. From version 13 on topics go by id (KIP-516); cap a request at 12 if one is not known.
#pragma once

#include "wire/frame.hpp"
#include "wire/messages/node_endpoint.hpp"

namespace partita::wire {

struct produce_response;

struct produce_request {
  static constexpr api_key key = api_key::produce;
  static constexpr version_range versions{3, 13};
  static constexpr std::int16_t first_flexible = 9;
  using response_type = produce_response;

  struct partition_data {
    partition_id index;
    record_bytes records;

    static void describe(auto& io, auto& m) { io(m.index, m.records); }
    friend bool operator==(const partition_data&, const partition_data&) = default;
  };
  struct topic_data {
    std::string name;  ///< not sent from 13 on
    partita::topic_id topic_id;
    std::vector<partition_data> partitions;

    static void describe(auto& io, auto& m) {
      io.until(12, m.name, ignorable);
      io.since(13, m.topic_id, ignorable);
      io(m.partitions);
    }
    friend bool operator==(const topic_data&, const topic_data&) = default;
  };

  std::optional<std::string> transactional_id;
  std::int16_t acks = -1;
  std::int32_t timeout_ms = 0;
  std::vector<topic_data> topics;

  static void describe(auto& io, auto& m) {
    io(m.transactional_id, m.acks, m.timeout_ms, m.topics);
  }
  friend bool operator==(const produce_request&, const produce_request&) = default;
};

struct produce_response {
  static constexpr api_key key = api_key::produce;
  static constexpr version_range versions{3, 13};
  static constexpr std::int16_t first_flexible = 9;

  struct record_error {
    std::int32_t batch_index = 0;
    std::optional<std::string> message;

    static void describe(auto& io, auto& m) { io(m.batch_index, m.message); }
    friend bool operator==(const record_error&, const record_error&) = default;
  };
  struct partition_answer {
    partition_id index;
    broker_errc error_code = broker_errc::none;
    offset base_offset;
    std::int64_t log_append_time_ms = -1;
    offset log_start_offset;
    std::vector<record_error> record_errors;
    std::optional<std::string> error_message;
    leader_hint current_leader;  ///< set for error 6 only (KIP-951)

    static void describe(auto& io, auto& m) {
      io(m.index, m.error_code, m.base_offset, m.log_append_time_ms);
      io.since(5, m.log_start_offset, ignorable);
      io.since(8, m.record_errors, ignorable);
      io.since(8, m.error_message, ignorable);
      io.tagged(0, 10, m.current_leader, ignorable);
    }
    friend bool operator==(const partition_answer&, const partition_answer&) = default;
  };
  struct topic_answer {
    std::string name;
    partita::topic_id topic_id;
    std::vector<partition_answer> partitions;

    static void describe(auto& io, auto& m) {
      io.until(12, m.name, ignorable);
      io.since(13, m.topic_id, ignorable);
      io(m.partitions);
    }
    friend bool operator==(const topic_answer&, const topic_answer&) = default;
  };

  std::vector<topic_answer> topics;
  std::int32_t throttle_time_ms = 0;
  std::vector<node_endpoint> node_endpoints;

  static void describe(auto& io, auto& m) {
    io(m.topics, m.throttle_time_ms);
    io.tagged(0, 10, m.node_endpoints, ignorable);
  }
  friend bool operator==(const produce_response&, const produce_response&) = default;
};

PARTITA_WIRE_DECLARE_MESSAGE(produce);

}  // namespace partita::wire
