// ElectLeaders: gives partitions back to their preferred leader, the first of their replicas.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct elect_leaders_response;

struct elect_leaders_request {
  static constexpr wire::api_key key = wire::api_key::elect_leaders;
  static constexpr wire::version_range versions{0, 2};
  static constexpr std::int16_t first_flexible = 2;
  using response_type = elect_leaders_response;

  struct topic {
    std::string name;
    std::vector<std::int32_t> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::int8_t type = 0;  ///< 0 preferred, 1 unclean
  std::optional<std::vector<topic>> topics;
  std::int32_t timeout_ms = 0;

  static void describe(auto& io, auto& m) {
    io.since(1, m.type, wire::ignorable);
    io(m.topics, m.timeout_ms);
  }
};

struct elect_leaders_response {
  static constexpr wire::api_key key = wire::api_key::elect_leaders;
  static constexpr wire::version_range versions{0, 2};
  static constexpr std::int16_t first_flexible = 2;

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
  broker_errc error_code = broker_errc::none;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms);
    io.since(1, m.error_code, wire::ignorable);
    io(m.topics);
  }
};

}  // namespace partita::testing
