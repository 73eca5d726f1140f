// AlterPartitionReassignments: another list of replicas for a partition.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct alter_partition_reassignments_response;

struct alter_partition_reassignments_request {
  static constexpr wire::api_key key = wire::api_key::alter_partition_reassignments;
  static constexpr wire::version_range versions{0, 1};
  static constexpr std::int16_t first_flexible = 0;
  using response_type = alter_partition_reassignments_response;

  struct partition {
    std::int32_t index = 0;
    std::optional<std::vector<std::int32_t>> replicas;  ///< null: cancel a reassignment
    static void describe(auto& io, auto& m) { io(m.index, m.replicas); }
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::int32_t timeout_ms = 0;
  bool allow_other_factor = true;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io(m.timeout_ms);
    io.since(1, m.allow_other_factor, wire::ignorable);
    io(m.topics);
  }
};

struct alter_partition_reassignments_response {
  static constexpr wire::api_key key = wire::api_key::alter_partition_reassignments;
  static constexpr wire::version_range versions{0, 1};
  static constexpr std::int16_t first_flexible = 0;

  struct partition {
    std::int32_t index = 0;
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    static void describe(auto& io, auto& m) { io(m.index, m.error_code, m.error_message); }
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::int32_t throttle_time_ms = 0;
  bool allow_other_factor = true;
  broker_errc error_code = broker_errc::none;
  std::optional<std::string> error_message;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms);
    io.since(1, m.allow_other_factor, wire::ignorable);
    io(m.error_code, m.error_message, m.topics);
  }
};

}  // namespace partita::testing
