// ApiVersions (KIP-35, KIP-511): which versions a broker serves; the first request on a connection.
//
// A broker that does not know the version asked for answers in the form of version 0 with error 35;
// decode_api_versions_answer() understands both. Ask again with the version it names.
#pragma once

#include "wire/frame.hpp"

namespace partita::wire {

struct api_versions_response;

struct api_versions_request {
  static constexpr api_key key = api_key::api_versions;
  static constexpr version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 3;
  using response_type = api_versions_response;

  std::string client_software_name;
  std::string client_software_version;
  std::optional<std::string> cluster_id;
  broker_id node_id;

  static void describe(auto& io, auto& m) {
    io.since(3, m.client_software_name, ignorable);
    io.since(3, m.client_software_version, ignorable);
    io.since(5, m.cluster_id, ignorable);
    io.since(5, m.node_id, ignorable);
  }
  friend bool operator==(const api_versions_request&, const api_versions_request&) = default;
};

struct api_versions_response {
  static constexpr api_key key = api_key::api_versions;
  static constexpr version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 3;

  struct api {
    std::int16_t key = 0;
    std::int16_t first = 0;
    std::int16_t last = 0;

    static void describe(auto& io, auto& m) { io(m.key, m.first, m.last); }
    friend bool operator==(const api&, const api&) = default;
  };
  struct supported_feature {
    std::string name;
    std::int16_t first = 0;
    std::int16_t last = 0;

    static void describe(auto& io, auto& m) { io(m.name, m.first, m.last); }
    friend bool operator==(const supported_feature&, const supported_feature&) = default;
  };
  struct finalized_feature {
    std::string name;
    std::int16_t level_max = 0;
    std::int16_t level_min = 0;

    static void describe(auto& io, auto& m) { io(m.name, m.level_max, m.level_min); }
    friend bool operator==(const finalized_feature&, const finalized_feature&) = default;
  };

  broker_errc error_code = broker_errc::none;
  std::vector<api> apis;
  std::int32_t throttle_time_ms = 0;
  std::vector<supported_feature> supported_features;
  std::int64_t finalized_features_epoch = -1;
  std::vector<finalized_feature> finalized_features;
  bool zk_migration_ready = false;

  /// The range the broker serves of an API; absent if it does not.
  [[nodiscard]] std::optional<version_range> range_of(api_key which) const noexcept;

  static void describe(auto& io, auto& m) {
    io(m.error_code, m.apis);
    io.since(1, m.throttle_time_ms, ignorable);
    io.tagged(0, 3, m.supported_features, ignorable);
    io.tagged(1, 3, m.finalized_features_epoch, defaults_to(-1));
    io.tagged(2, 3, m.finalized_features, ignorable);
    io.tagged(3, 3, m.zk_migration_ready, ignorable);
  }
  friend bool operator==(const api_versions_response&, const api_versions_response&) = default;
};

/// Decodes an answer to version `asked`, also when the broker fell back to the form of version 0.
[[nodiscard]] decoded<api_versions_response> decode_api_versions_answer(
    std::int16_t asked, std::span<const std::byte> bytes);

PARTITA_WIRE_DECLARE_MESSAGE(api_versions);

}  // namespace partita::wire
