// FindCoordinator: which broker coordinates a transactional id or a group; batched from version 4
// on.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct find_coordinator_response;

struct find_coordinator_request {
  static constexpr wire::api_key key = wire::api_key::find_coordinator;
  static constexpr wire::version_range versions{0, 6};
  static constexpr std::int16_t first_flexible = 3;
  using response_type = find_coordinator_response;

  std::string name;
  std::int8_t type = 0;  ///< 0 group, 1 transactional id, 2 share group
  std::vector<std::string> names;

  static void describe(auto& io, auto& m) {
    io.until(3, m.name);
    io.since(1, m.type);
    io.since(4, m.names);
  }
};

struct find_coordinator_response {
  static constexpr wire::api_key key = wire::api_key::find_coordinator;
  static constexpr wire::version_range versions{0, 6};
  static constexpr std::int16_t first_flexible = 3;

  struct coordinator {
    std::string name;
    std::int32_t node_id = -1;
    std::string host;
    std::int32_t port = -1;
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    static void describe(auto& io, auto& m) {
      io(m.name, m.node_id, m.host, m.port, m.error_code, m.error_message);
    }
    friend bool operator==(const coordinator&, const coordinator&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  broker_errc error_code = broker_errc::none;
  std::optional<std::string> error_message;
  std::int32_t node_id = -1;
  std::string host;
  std::int32_t port = -1;
  std::vector<coordinator> coordinators;

  static void describe(auto& io, auto& m) {
    io.since(1, m.throttle_time_ms, wire::ignorable);
    io.until(3, m.error_code, wire::ignorable);
    io.between(1, 3, m.error_message, wire::ignorable);
    io.until(3, m.node_id, wire::ignorable);
    io.until(3, m.host, wire::ignorable);
    io.until(3, m.port, wire::ignorable);
    io.since(4, m.coordinators, wire::ignorable);
  }
};

}  // namespace partita::testing
