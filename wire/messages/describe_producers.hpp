// DescribeProducers (KIP-664): what a broker remembers of the producers of a partition.
#pragma once

#include "wire/frame.hpp"

namespace partita::wire {

struct describe_producers_response;

struct describe_producers_request {
  static constexpr api_key key = api_key::describe_producers;
  static constexpr version_range versions{0, 0};
  static constexpr std::int16_t first_flexible = 0;
  using response_type = describe_producers_response;

  struct topic {
    std::string name;
    std::vector<partition_id> partitions;

    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
    friend bool operator==(const topic&, const topic&) = default;
  };

  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.topics); }
  friend bool operator==(const describe_producers_request&,
                         const describe_producers_request&) = default;
};

struct describe_producers_response {
  static constexpr api_key key = api_key::describe_producers;
  static constexpr version_range versions{0, 0};
  static constexpr std::int16_t first_flexible = 0;

  struct producer {
    partita::producer_id producer_id;
    std::int32_t producer_epoch = -1;  ///< 32 bits here, 16 everywhere else
    sequence last_sequence;
    std::int64_t last_timestamp = -1;
    std::int32_t coordinator_epoch = -1;
    offset transaction_start_offset;

    static void describe(auto& io, auto& m) {
      io(m.producer_id, m.producer_epoch, m.last_sequence, m.last_timestamp, m.coordinator_epoch,
         m.transaction_start_offset);
    }
    friend bool operator==(const producer&, const producer&) = default;
  };
  struct partition {
    partition_id index;
    broker_errc error_code = broker_errc::none;
    std::optional<std::string> error_message;
    std::vector<producer> producers;

    static void describe(auto& io, auto& m) {
      io(m.index, m.error_code, m.error_message, m.producers);
    }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;

    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
    friend bool operator==(const topic&, const topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) { io(m.throttle_time_ms, m.topics); }
  friend bool operator==(const describe_producers_response&,
                         const describe_producers_response&) = default;
};

PARTITA_WIRE_DECLARE_MESSAGE(describe_producers);

}  // namespace partita::wire
