// DeleteTopics: by name, from version 6 on by name or id.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct delete_topics_response;

struct delete_topics_request {
  static constexpr wire::api_key key = wire::api_key::delete_topics;
  static constexpr wire::version_range versions{1, 6};
  static constexpr std::int16_t first_flexible = 4;
  using response_type = delete_topics_response;

  struct topic {
    std::optional<std::string> name;
    partita::topic_id topic_id;
    static void describe(auto& io, auto& m) { io(m.name, m.topic_id); }
    friend bool operator==(const topic&, const topic&) = default;
  };

  std::vector<topic> topics;
  std::vector<std::string> names;
  std::int32_t timeout_ms = 0;

  static void describe(auto& io, auto& m) {
    io.since(6, m.topics);
    io.until(5, m.names);
    io(m.timeout_ms);
  }
};

struct delete_topics_response {
  static constexpr wire::api_key key = wire::api_key::delete_topics;
  static constexpr wire::version_range versions{1, 6};
  static constexpr std::int16_t first_flexible = 4;

  struct topic {
    std::optional<std::string> name;
    partita::topic_id topic_id;
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    static void describe(auto& io, auto& m) {
      io.nullable_since(6, m.name);
      io.since(6, m.topic_id, wire::ignorable);
      io(m.error_code);
      io.since(5, m.error_message, wire::ignorable);
    }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.topics); }
};

}  // namespace partita::testing
