// InitProducerId: a producer id, from any broker when no transactional id is given.
#pragma once

#include "wire/frame.hpp"

namespace partita::wire {

struct init_producer_id_response;

struct init_producer_id_request {
  static constexpr api_key key = api_key::init_producer_id;
  static constexpr version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 2;
  using response_type = init_producer_id_response;

  std::optional<std::string> transactional_id;
  std::int32_t transaction_timeout_ms = 0;
  partita::producer_id producer_id;
  partita::producer_epoch producer_epoch;

  static void describe(auto& io, auto& m) {
    io(m.transactional_id, m.transaction_timeout_ms);
    io.since(3, m.producer_id);
    io.since(3, m.producer_epoch);
  }
  friend bool operator==(const init_producer_id_request&,
                         const init_producer_id_request&) = default;
};

struct init_producer_id_response {
  static constexpr api_key key = api_key::init_producer_id;
  static constexpr version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 2;

  std::int32_t throttle_time_ms = 0;
  broker_errc error_code = broker_errc::none;
  partita::producer_id producer_id;
  partita::producer_epoch producer_epoch;

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch);
  }
  friend bool operator==(const init_producer_id_response&,
                         const init_producer_id_response&) = default;
};

PARTITA_WIRE_DECLARE_MESSAGE(init_producer_id);

}  // namespace partita::wire
