// What one history consists of, drawn from its seed: cluster, producers, and which faults may
// strike.
//
// Invariants
// 1. The same seed and profile give the same plan, on every machine.
// 2. A plan asks for nothing that breaks a promise by itself: no lost tail where acks=1 is
//    promised less, no forgotten state while a doubtful record may still be retried.
//
// Threads: plain values.
#pragma once

#include <partita/config.hpp>
#include <partita/testing/virtual_time.hpp>

#include <array>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::simulate {

/// The groups of faults a history may be struck by.
enum class fault_group : std::uint8_t {
  codes,         ///< 1: error codes of produce answers, before and after the append
  responses,     ///< 2: answers lost, late, damaged
  sockets,       ///< 3: resets, cuts, small buffers
  brokers,       ///< 4: paused, stopped, restarted
  leaders,       ///< 5: moved, with and without the tail
  producers,     ///< 6: what brokers remember of a producer
  topics,        ///< 7: grown, limited, deleted and made again
  rights,        ///< 8: taken away for a while
  clocks,        ///< 11: the client stalls, old timestamps
  memory,        ///< 12: hardly any room
  hooks,         ///< 13: callbacks that throw and that produce
  cancellation,  ///< 14: single records, pause with abort
  closing,       ///< 15: close with any deadline, at any moment, twice
  swizzle,       ///< 16: all links clogged and freed in random order, flapping
  compaction,    ///< 17: logs are compacted now and then
};
inline constexpr std::size_t fault_groups = 15;
using fault_set = std::bitset<fault_groups>;

[[nodiscard]] std::string_view name(fault_group group) noexcept;
/// The number in the list of fault groups.
[[nodiscard]] int number(fault_group group) noexcept;

struct producer_plan {
  producer_config config{};
  int lanes = 1;
};

struct plan {
  std::uint64_t seed = 1;
  int brokers = 3;
  std::vector<int> partitions;  ///< by topic
  testing::link_options links{};
  fault_set faults;
  double fury = 1;  ///< how often faults strike, relative to the calmest
  std::vector<producer_plan> producers;
  int steps = 40;
  int keys = 4;
  bool expiring_state = false;  ///< brokers forget producers after a minute of record time
  /// What reaches a broker is executed at once or never, and brokers forget soon.
  bool prompt = false;
  std::chrono::milliseconds expiration_check{5000};
};

/// "mixed" (calm, one group alone, or a swarm, by the seed), "calm", "alone", "swarm", or the name
/// of a group. Nothing for an unknown name.
[[nodiscard]] std::optional<plan> draw_plan(std::uint64_t seed, std::string_view profile);
[[nodiscard]] std::vector<std::string_view> profiles();

[[nodiscard]] inline bool has(const plan& what, fault_group group) {
  return what.faults.test(static_cast<std::size_t>(group));
}

/// Where a frame may be held back and executed later, brokers must not have forgotten its producer
/// by then: they go by the time of its last record, and nobody can survive that. So no record is
/// sent, or sent again, that is older than this. In a plan that is `prompt` nothing is held back.
[[nodiscard]] std::chrono::milliseconds oldest_record(const plan& what);

}  // namespace partita::simulate
