// What a broker checks of a batch before it looks at its producer: structure, size, checksum,
// records.
//
// Invariants
// 1. The checks run in Kafka's order, and all of them before the search for duplicates: a retry of
// a
//    batch that is in the log can fail any of them.
// 2. Nothing here changes state; an accepted batch is a copy with final timestamps.
//
// Threads: pure functions.
#pragma once

#include "api/testing/batch_bytes.hpp"
#include "api/testing/topic_settings.hpp"

#include <partita/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {

struct record_fault {
  std::int32_t index = 0;
  std::string message;
};

/// Why a batch was refused; `code` none: it was not.
struct refusal {
  broker_errc code = broker_errc::none;
  bool shows_log_start = false;  ///< raised late enough to know the partition's log start
  std::optional<std::string> message{};
  std::vector<record_fault> record_faults{};

  [[nodiscard]] bool refused() const noexcept { return code != broker_errc::none; }
};

struct framed_batch {
  refusal refused;
  byte_view batch;  ///< the one batch of the records field
};

/// The records field of one partition holds exactly one batch that this version may carry.
framed_batch check_framing(byte_view records, int produce_version);

struct checked_batch {
  refusal refused;
  batch_header header;           ///< as sent
  std::vector<std::byte> bytes;  ///< as it will be stored, but for its place
};

/// Everything between "this broker leads the partition" and the search for duplicates.
checked_batch check_batch(byte_view batch, const topic_settings& settings, std::int64_t now_ms);

}  // namespace partita::testing
