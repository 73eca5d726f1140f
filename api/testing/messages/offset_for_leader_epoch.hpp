// OffsetForLeaderEpoch: consumers ask it after a leader change to find a truncated log.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct offset_for_leader_epoch_response;

struct offset_for_leader_epoch_request {
  static constexpr wire::api_key key = wire::api_key::offset_for_leader_epoch;
  static constexpr wire::version_range versions{2, 4};
  static constexpr std::int16_t first_flexible = 4;
  using response_type = offset_for_leader_epoch_response;

  struct partition {
    std::int32_t index = 0;
    std::int32_t current_leader_epoch = -1;
    std::int32_t leader_epoch = -1;
    static void describe(auto& io, auto& m) { io(m.index, m.current_leader_epoch, m.leader_epoch); }
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::int32_t replica_id = -1;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io.since(3, m.replica_id, wire::ignorable);
    io(m.topics);
  }
};

struct offset_for_leader_epoch_response {
  static constexpr wire::api_key key = wire::api_key::offset_for_leader_epoch;
  static constexpr wire::version_range versions{2, 4};
  static constexpr std::int16_t first_flexible = 4;

  struct partition {
    broker_errc error_code = broker_errc::none;
    std::int32_t index = 0;
    std::int32_t leader_epoch = -1;
    std::int64_t end_offset = -1;
    static void describe(auto& io, auto& m) {
      io(m.error_code, m.index, m.leader_epoch, m.end_offset);
    }
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.topics); }
};

}  // namespace partita::testing
