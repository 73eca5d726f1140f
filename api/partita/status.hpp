// Typed snapshots of what a producer is doing, for health checks and diagnosis.
#pragma once

#include <partita/ids.hpp>
#include <partita/outcome.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace partita {

enum class partition_state : std::uint8_t {
  normal,      ///< sends what it has
  starting,    ///< waits for a producer id
  leaderless,  ///< no leader is known
  paused,      ///< by pause()
  halted,      ///< as a whole, by a failure or halt(); waits for recover(). Halted keys alone do
               ///< not show here: see partition_status::halted_keys
  fencing,  ///< a sent batch was given up; waits for the last attempts to end, then bumps its epoch
  closing,
  settling,  ///< a batch in doubt is retried or looked for in the log; nothing newer is sent
};

/// A key of which nothing passes until it is recovered.
struct halted_key_status {
  std::string key{};  ///< its first 1024 bytes
  std::error_code cause{};
};

/// One partition at one moment of its own order of commands.
struct partition_status {
  std::string topic{};
  partition_id partition{};
  partition_state state = partition_state::normal;
  broker_id leader{};
  partita::leader_epoch leader_epoch{};
  partita::producer_id producer_id{};
  partita::producer_epoch producer_epoch{};
  std::uint64_t buffered_records = 0;  ///< accepted and not answered
  /// What they hold of buffer.memory, and what failed records that are kept for recover() do.
  std::uint64_t buffered_bytes = 0;
  int batches_in_flight = 0;
  int batches_in_doubt = 0;
  std::uint64_t failed_records_kept = 0;  ///< wait for recover()
  std::uint64_t held_records = 0;         ///< not sent because of a halt; wait for recover()
  std::error_code halt_cause{};           ///< of the partition's halt; empty: it is not halted
  std::uint64_t halted_keys = 0;
  std::vector<halted_key_status> some_halted_keys{};  ///< at most ten of them
  std::uint64_t tickets_kept = 0;  ///< records of unknown fate that settle() can be asked for
  std::uint32_t epoch_bumps = 0;
  partita::offset last_offset{};  ///< highest acknowledged offset of the present log
  tally answered{};
  std::error_code last_error{};
};

struct broker_status {
  broker_id id{};
  std::string host{};
  std::uint16_t port = 0;
  bool connected = false;
  int requests_in_flight = 0;
  std::uint64_t requests = 0;
  std::uint64_t disconnects = 0;
  std::error_code last_error{};
  std::string last_error_text{};
};

struct producer_status {
  std::vector<partition_status> partitions{};  ///< sorted by topic and partition
  std::vector<broker_status> brokers{};        ///< sorted by id
  std::uint64_t buffered_bytes = 0;
  std::uint64_t buffer_memory_bytes = 0;
  std::uint64_t callback_exceptions = 0;  ///< thrown by user code and swallowed
  std::uint64_t impossible_verdicts = 0;  ///< of the failure handler; the policy acted instead
  std::uint64_t contradictions = 0;       ///< answers that contradict what was sent (L9)
  std::uint64_t slow_callbacks = 0;       ///< runs of user code that held a lane up for 100 ms
  std::uint64_t rebootstraps = 0;    ///< starts from bootstrap.servers after the first (KIP-899)
  std::error_code metadata_error{};  ///< why the cluster is not known, if it is not
  std::string metadata_error_text{};
};

}  // namespace partita
