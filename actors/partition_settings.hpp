// The slice of the configuration that a partition needs.
#pragma once

#include "wire/compression.hpp"

#include "actors/fitting_size.hpp"
#include "actors/instant.hpp"
#include "actors/linger_habit.hpp"

#include <partita/config.hpp>
#include <partita/ids.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

namespace partita::actors {

struct partition_settings {
  acks required_acks = acks::all;
  bool idempotent = true;
  int max_in_flight = 5;
  duration linger{};
  std::size_t batch_bytes_max = 1'000'000;
  std::size_t batch_records_max = 10'000;
  wire::codec codec = wire::codec::none;
  int codec_level = 0;  ///< already the codec's own default where none was given
  duration delivery_timeout = std::chrono::seconds(120);
  duration retry_backoff = std::chrono::milliseconds(100);
  duration retry_backoff_max = std::chrono::seconds(1);
  int attempts_max = std::numeric_limits<int>::max();
  failure_policy on_failure = failure_policy::halt_key;
  partita::while_halted while_halted = partita::while_halted::refuse;
  bool has_failure_handler = false;
  /// What failed and waits for recover() may take so much room; beyond that the whole partition
  /// halts, so that it can not fill the memory of all (L8).
  std::size_t kept_bytes_max = std::numeric_limits<std::size_t>::max();
  /// A batch whose newest record is older goes alone, and is not retried blindly while in doubt:
  /// the broker forgets producers by record timestamps (L10 c).
  std::chrono::milliseconds state_horizon = std::chrono::hours(1);
  bool new_producer_id_on_bump = false;
  /// Shared by the partitions of a topic; absent: the partition's own.
  std::shared_ptr<fitting_size> fitting;
  /// Shared by all partitions of a producer; absent: the partition's own.
  std::shared_ptr<linger_habit> habit;
  duration ticket_retention = std::chrono::hours(1);
  std::size_t ticket_records_max = 100'000;
  // Limits of single records, for the words of a refusal.
  std::size_t request_bytes_max = std::numeric_limits<std::size_t>::max();
  std::size_t memory_bytes = std::numeric_limits<std::size_t>::max();
};

}  // namespace partita::actors
