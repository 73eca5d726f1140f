// CreateTopics: only the simulated cluster serves it; the producer never asks for it.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct create_topics_response;

struct create_topics_request {
  static constexpr wire::api_key key = wire::api_key::create_topics;
  static constexpr wire::version_range versions{2, 7};
  static constexpr std::int16_t first_flexible = 5;
  using response_type = create_topics_response;

  struct assignment {
    std::int32_t partition = 0;
    std::vector<std::int32_t> brokers;
    static void describe(auto& io, auto& m) { io(m.partition, m.brokers); }
  };
  struct setting {
    std::string name;
    std::optional<std::string> value;
    static void describe(auto& io, auto& m) { io(m.name, m.value); }
  };
  struct topic {
    std::string name;
    std::int32_t partitions = -1;
    std::int16_t replication = -1;
    std::vector<assignment> assignments;
    std::vector<setting> settings;
    static void describe(auto& io, auto& m) {
      io(m.name, m.partitions, m.replication, m.assignments, m.settings);
    }
  };

  std::vector<topic> topics;
  std::int32_t timeout_ms = 0;
  bool validate_only = false;

  static void describe(auto& io, auto& m) { io(m.topics, m.timeout_ms, m.validate_only); }
};

struct create_topics_response {
  static constexpr wire::api_key key = wire::api_key::create_topics;
  static constexpr wire::version_range versions{2, 7};
  static constexpr std::int16_t first_flexible = 5;

  struct setting {
    std::string name;
    std::optional<std::string> value;
    bool read_only = false;
    std::int8_t source = -1;
    bool sensitive = false;
    static void describe(auto& io, auto& m) {
      io(m.name, m.value, m.read_only, m.source, m.sensitive);
    }
    friend bool operator==(const setting&, const setting&) = default;
  };
  struct topic {
    std::string name;
    partita::topic_id topic_id;
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    std::int32_t partitions = -1;
    std::int16_t replication = -1;
    std::optional<std::vector<setting>> settings;
    static void describe(auto& io, auto& m) {
      io(m.name);
      io.since(7, m.topic_id, wire::ignorable);
      io(m.error_code, m.error_message);
      io.since(5, m.partitions, wire::ignorable);
      io.since(5, m.replication, wire::ignorable);
      io.since(5, m.settings, wire::ignorable);
    }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.topics); }
};

}  // namespace partita::testing
