// ListOffsets: the first, last or timed offset of a partition.
#pragma once

#include "wire/frame.hpp"

namespace partita::wire {

struct list_offsets_response;

/// What to ask for in the place of a timestamp.
inline constexpr std::int64_t latest_offset = -1;
inline constexpr std::int64_t earliest_offset = -2;

/// As a replica id: a leader tells it the end of its own log instead of the high watermark.
inline constexpr std::int32_t debugging_replica = -2;

struct list_offsets_request {
  static constexpr api_key key = api_key::list_offsets;
  static constexpr version_range versions{1, 11};
  static constexpr std::int16_t first_flexible = 6;
  using response_type = list_offsets_response;

  struct partition {
    partition_id index;
    leader_epoch current_leader_epoch;
    std::int64_t timestamp = latest_offset;

    static void describe(auto& io, auto& m) {
      io(m.index);
      io.since(4, m.current_leader_epoch, ignorable);
      io(m.timestamp);
    }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;

    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
    friend bool operator==(const topic&, const topic&) = default;
  };

  broker_id replica_id;
  std::int8_t isolation_level = 0;  ///< 0 up to the high watermark, 1 up to the last stable offset
  std::vector<topic> topics;
  std::int32_t timeout_ms = 0;

  static void describe(auto& io, auto& m) {
    io(m.replica_id);
    io.since(2, m.isolation_level);
    io(m.topics);
    io.since(10, m.timeout_ms, ignorable);
  }
  friend bool operator==(const list_offsets_request&, const list_offsets_request&) = default;
};

struct list_offsets_response {
  static constexpr api_key key = api_key::list_offsets;
  static constexpr version_range versions{1, 11};
  static constexpr std::int16_t first_flexible = 6;

  struct partition {
    partition_id index;
    broker_errc error_code = broker_errc::none;
    std::int64_t timestamp = -1;
    partita::offset offset;
    partita::leader_epoch leader_epoch;

    static void describe(auto& io, auto& m) {
      io(m.index, m.error_code, m.timestamp, m.offset);
      io.since(4, m.leader_epoch, ignorable);
    }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;

    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
    friend bool operator==(const topic&, const topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io.since(2, m.throttle_time_ms, ignorable);
    io(m.topics);
  }
  friend bool operator==(const list_offsets_response&, const list_offsets_response&) = default;
};

PARTITA_WIRE_DECLARE_MESSAGE(list_offsets);

}  // namespace partita::wire
