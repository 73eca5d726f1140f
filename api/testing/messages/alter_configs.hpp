// IncrementalAlterConfigs (KIP-339): settings of topics and brokers, one by one.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct incremental_alter_configs_response;

/// The kinds of resources that have settings.
inline constexpr std::int8_t topic_resource = 2;
inline constexpr std::int8_t broker_resource = 4;

struct incremental_alter_configs_request {
  static constexpr wire::api_key key = wire::api_key::incremental_alter_configs;
  static constexpr wire::version_range versions{0, 1};
  static constexpr std::int16_t first_flexible = 1;
  using response_type = incremental_alter_configs_response;

  struct setting {
    std::string name;
    std::int8_t operation = 0;  ///< 0 set, 1 delete, 2 append, 3 subtract
    std::optional<std::string> value;
    static void describe(auto& io, auto& m) { io(m.name, m.operation, m.value); }
  };
  struct resource {
    std::int8_t type = 0;
    std::string name;
    std::vector<setting> settings;
    static void describe(auto& io, auto& m) { io(m.type, m.name, m.settings); }
  };

  std::vector<resource> resources;
  bool validate_only = false;

  static void describe(auto& io, auto& m) { io(m.resources, m.validate_only); }
};

struct incremental_alter_configs_response {
  static constexpr wire::api_key key = wire::api_key::incremental_alter_configs;
  static constexpr wire::version_range versions{0, 1};
  static constexpr std::int16_t first_flexible = 1;

  struct resource {
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    std::int8_t type = 0;
    std::string name;
    static void describe(auto& io, auto& m) { io(m.error_code, m.error_message, m.type, m.name); }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<resource> resources;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.resources); }
};

}  // namespace partita::testing
