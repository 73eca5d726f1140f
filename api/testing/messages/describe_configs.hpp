// DescribeConfigs: the settings of a topic, as administration clients ask for them.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct describe_configs_response;

struct describe_configs_request {
  static constexpr wire::api_key key = wire::api_key::describe_configs;
  static constexpr wire::version_range versions{1, 4};
  static constexpr std::int16_t first_flexible = 4;
  using response_type = describe_configs_response;

  struct resource {
    std::int8_t type = 0;
    std::string name;
    std::optional<std::vector<std::string>> keys;  ///< null: all
    static void describe(auto& io, auto& m) { io(m.type, m.name, m.keys); }
  };

  std::vector<resource> resources;
  bool include_synonyms = false;
  bool include_documentation = false;

  static void describe(auto& io, auto& m) {
    io(m.resources, m.include_synonyms);
    io.since(3, m.include_documentation);
  }
};

struct describe_configs_response {
  static constexpr wire::api_key key = wire::api_key::describe_configs;
  static constexpr wire::version_range versions{1, 4};
  static constexpr std::int16_t first_flexible = 4;

  struct synonym {
    std::string name;
    std::optional<std::string> value;
    std::int8_t source = 0;
    static void describe(auto& io, auto& m) { io(m.name, m.value, m.source); }
  };
  struct setting {
    std::string name;
    std::optional<std::string> value;
    bool read_only = false;
    std::int8_t source = 1;  ///< 1: the topic's own, 5: a default
    bool sensitive = false;
    std::vector<synonym> synonyms;
    std::int8_t type = 0;
    std::optional<std::string> documentation;
    static void describe(auto& io, auto& m) {
      io(m.name, m.value, m.read_only, m.source, m.sensitive, m.synonyms);
      io.since(3, m.type, wire::ignorable);
      io.since(3, m.documentation, wire::ignorable);
    }
  };
  struct resource {
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    std::int8_t type = 0;
    std::string name;
    std::vector<setting> settings;
    static void describe(auto& io, auto& m) {
      io(m.error_code, m.error_message, m.type, m.name, m.settings);
    }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<resource> resources;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.resources); }
};

}  // namespace partita::testing
