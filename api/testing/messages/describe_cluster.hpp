// DescribeCluster: brokers, cluster id and controller, for administration clients.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct describe_cluster_response;

struct describe_cluster_request {
  static constexpr wire::api_key key = wire::api_key::describe_cluster;
  static constexpr wire::version_range versions{0, 2};
  static constexpr std::int16_t first_flexible = 0;
  using response_type = describe_cluster_response;

  bool include_authorized_operations = false;
  std::int8_t endpoint_type = 1;
  bool include_fenced_brokers = false;

  static void describe(auto& io, auto& m) {
    io(m.include_authorized_operations);
    io.since(1, m.endpoint_type, wire::ignorable);
    io.since(2, m.include_fenced_brokers, wire::ignorable);
  }
};

struct describe_cluster_response {
  static constexpr wire::api_key key = wire::api_key::describe_cluster;
  static constexpr wire::version_range versions{0, 2};
  static constexpr std::int16_t first_flexible = 0;

  struct broker {
    std::int32_t id = -1;
    std::string host;
    std::int32_t port = -1;
    std::optional<std::string> rack;
    bool fenced = false;
    static void describe(auto& io, auto& m) {
      io(m.id, m.host, m.port, m.rack);
      io.since(2, m.fenced, wire::ignorable);
    }
  };

  std::int32_t throttle_time_ms = 0;
  broker_errc error_code = broker_errc::none;
  std::optional<std::string> error_message;
  std::int8_t endpoint_type = 1;
  std::string cluster_id;
  std::int32_t controller = -1;
  std::vector<broker> brokers;
  std::int32_t authorized_operations = std::numeric_limits<std::int32_t>::min();

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms, m.error_code, m.error_message);
    io.since(1, m.endpoint_type, wire::ignorable);
    io(m.cluster_id, m.controller, m.brokers, m.authorized_operations);
  }
};

}  // namespace partita::testing
