// What to do with a batch after an attempt that did not deliver it.
//
// Invariants
// 1. A batch in doubt is sent again with the same bytes and tuple, or given up as unknown. It is
// never
//    split, renumbered, or called not written (L2, L3, L10b), whatever later codes say.
// 2. Without idempotence a doubtful attempt is never repeated: a blind retry could write it twice.
// 3. Nothing is sent again at or after the deadline, and every retry backs off (L8). The one retry
//    without a delay is to a leader newer than the one that was asked (KIP-951).
// 4. Giving up, splitting and renumbering a numbered batch always come with a new epoch (L1).
//
// Threads: pure functions. Time and the random draw are arguments.
#pragma once

#include "actors/instant.hpp"
#include "actors/verdict.hpp"

#include <partita/outcome.hpp>

#include <chrono>
#include <cstdint>
#include <limits>

namespace partita::actors {

struct retry_policy {
  duration backoff = std::chrono::milliseconds{100};
  duration backoff_max = std::chrono::seconds{1};
  int attempts_max = std::numeric_limits<int>::max();
};

/// What is known when an attempt has ended.
struct retry_situation {
  attempt_end end{};
  bool earlier_doubt = false;  ///< an attempt before this one may have been appended
  int attempts = 1;            ///< this one included
  int repeats = 1;             ///< attempts in a row that ended with this code, this one included
  std::int32_t record_count = 1;
  bool idempotent = true;
  bool predecessor_unfinished = false;  ///< an older batch of the partition has no outcome yet
  bool newer_leader_known = false;      ///< newer than the leader that was asked
  bool back_dated = false;              ///< largest timestamp older than state_horizon (L10c)
  instant now{};
  instant deadline{};
  double draw = 0.5;  ///< uniform in [0, 1)
};

enum class retry_action : std::uint8_t {
  retry,                 ///< the same bytes and tuple, after `delay`
  wait_for_predecessor,  ///< the same bytes and tuple once the older batch has ended, not before
                         ///< `delay`
  bump_and_resend,       ///< drain the partition, then send it under a new epoch, after `delay`
  split,                 ///< cut the batch in two and send the halves under a new epoch
  give_up,               ///< answer it with `fate`
};

struct retry_decision {
  retry_action action = retry_action::give_up;
  duration delay{};
  bool refresh_metadata = false;
  bool bump_epoch = false;       ///< the partition must leave this epoch before it sends new bytes
  bool new_producer_id = false;  ///< bumping did not help: somebody else uses the id (KAFKA-15552)
  bool read_log_first = false;  ///< where the log can be read, look for the batch before sending it
  partita::fate fate = fate::unknown;  ///< of a batch that is given up
  limit ended_by = limit::none;        ///< of a batch that is given up
};

/// Exponential from the first, doubling with each attempt, up to the largest; within 20 % either
/// way so that many partitions do not return together, but never above the largest nor below 1 ms.
/// `attempts` counts those that ended and is at least 1.
[[nodiscard]] duration backoff_after(const retry_policy& policy, int attempts,
                                     double draw) noexcept;

/// Decides. Not for an attempt that delivered.
[[nodiscard]] retry_decision decide_retry(const retry_policy& policy, const retry_situation& at);

/// True when Kafka's client retries the code by itself; for tables, logs and tests.
[[nodiscard]] bool retriable(broker_errc code) noexcept;

}  // namespace partita::actors
