// CreatePartitions: more partitions for a topic that exists.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct create_partitions_response;

struct create_partitions_request {
  static constexpr wire::api_key key = wire::api_key::create_partitions;
  static constexpr wire::version_range versions{0, 3};
  static constexpr std::int16_t first_flexible = 2;
  using response_type = create_partitions_response;

  struct assignment {
    std::vector<std::int32_t> brokers;
    static void describe(auto& io, auto& m) { io(m.brokers); }
  };
  struct topic {
    std::string name;
    std::int32_t count = 0;
    std::optional<std::vector<assignment>> assignments;
    static void describe(auto& io, auto& m) { io(m.name, m.count, m.assignments); }
  };

  std::vector<topic> topics;
  std::int32_t timeout_ms = 0;
  bool validate_only = false;

  static void describe(auto& io, auto& m) { io(m.topics, m.timeout_ms, m.validate_only); }
};

struct create_partitions_response {
  static constexpr wire::api_key key = wire::api_key::create_partitions;
  static constexpr wire::version_range versions{0, 3};
  static constexpr std::int16_t first_flexible = 2;

  struct topic {
    std::string name;
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    static void describe(auto& io, auto& m) { io(m.name, m.error_code, m.error_message); }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.topics); }
};

}  // namespace partita::testing
