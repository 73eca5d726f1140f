// DeleteRecords: moves the start of a partition's log.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct delete_records_response;

struct delete_records_request {
  static constexpr wire::api_key key = wire::api_key::delete_records;
  static constexpr wire::version_range versions{0, 2};
  static constexpr std::int16_t first_flexible = 2;
  using response_type = delete_records_response;

  struct partition {
    std::int32_t index = 0;
    std::int64_t offset = 0;  ///< -1: the high watermark
    static void describe(auto& io, auto& m) { io(m.index, m.offset); }
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::vector<topic> topics;
  std::int32_t timeout_ms = 0;

  static void describe(auto& io, auto& m) { io(m.topics, m.timeout_ms); }
};

struct delete_records_response {
  static constexpr wire::api_key key = wire::api_key::delete_records;
  static constexpr wire::version_range versions{0, 2};
  static constexpr std::int16_t first_flexible = 2;

  struct partition {
    std::int32_t index = 0;
    std::int64_t low_watermark = -1;
    broker_errc error_code = broker_errc::none;
    static void describe(auto& io, auto& m) { io(m.index, m.low_watermark, m.error_code); }
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.topics); }
};

}  // namespace partita::testing
