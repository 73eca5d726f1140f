// What a run of histories has touched: faults by group and kind, operations, outcomes.
//
// Threads: one process; added up over processes as plain numbers.
#pragma once

#include "actors/core_visits.hpp"
#include "tests/simulate/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace partita::simulate {

/// Every kind of fault, with its group. Printed in this order.
#define PARTITA_SIMULATED_FAULTS(X) \
  X(codes, refused)                 \
  X(codes, refused_for_good)        \
  X(codes, stored_then_doubt)       \
  X(codes, stored_then_offset)      \
  X(codes, skipped_then_doubt)      \
  X(responses, lost_request)        \
  X(responses, lost_answer)         \
  X(responses, closed_after)        \
  X(responses, never_answered)      \
  X(responses, answered_late)       \
  X(responses, executed_late)       \
  X(responses, wrong_id)            \
  X(responses, truncated)           \
  X(responses, garbage)             \
  X(responses, throttled)           \
  X(sockets, connections_ended)     \
  X(sockets, connections_reset)     \
  X(sockets, link_cut)              \
  X(brokers, paused)                \
  X(brokers, stopped)               \
  X(brokers, killed)                \
  X(leaders, moved)                 \
  X(leaders, tail_lost)             \
  X(leaders, replication_held)      \
  X(producers, forgotten)           \
  X(producers, no_id)               \
  X(topics, grown)                  \
  X(topics, limited)                \
  X(topics, made_again)             \
  X(rights, denied)                 \
  X(clocks, back_dated)             \
  X(memory, no_room)                \
  X(memory, large_record)           \
  X(hooks, threw)                   \
  X(hooks, produced_inside)         \
  X(hooks, controlled_inside)       \
  X(cancellation, cancelled)        \
  X(cancellation, cancelled_again)  \
  X(cancellation, own_deadline)     \
  X(cancellation, aborted)          \
  X(cancellation, paused_held)      \
  X(closing, closed_at_once)        \
  X(closing, closed_soon)           \
  X(closing, closed_twice)          \
  X(closing, destroyed)             \
  X(swizzle, clogged)               \
  X(swizzle, flapped)               \
  X(compaction, compacted)

enum class fault_kind : std::uint8_t {
#define PARTITA_FAULT_NAME(group, kind) kind,
  PARTITA_SIMULATED_FAULTS(PARTITA_FAULT_NAME)
#undef PARTITA_FAULT_NAME
      count
};
inline constexpr auto fault_kinds = static_cast<std::size_t>(fault_kind::count);

[[nodiscard]] std::string_view name(fault_kind kind) noexcept;

struct coverage {
  std::array<std::uint64_t, fault_kinds> faults{};
  /// Histories in which both groups were switched on.
  std::array<std::array<std::uint64_t, fault_groups>, fault_groups> pairs{};
  /// How often each state of a partition met each event.
  std::array<std::array<std::uint64_t, actors::core_events>, actors::core_states_max> cells{};
  std::uint64_t delivered = 0;
  std::uint64_t not_written = 0;
  std::uint64_t unknown = 0;
  std::uint64_t settled_delivered = 0;
  std::uint64_t settled_never_written = 0;
  std::uint64_t undecidable = 0;
  std::uint64_t halts_asked = 0;
  std::uint64_t recoveries = 0;
  std::uint64_t resubmitted = 0;
  std::uint64_t taken = 0;
  std::uint64_t flushes = 0;
  std::uint64_t events = 0;
  std::uint64_t virtual_ms = 0;

  void hit(fault_kind kind) noexcept { ++faults[static_cast<std::size_t>(kind)]; }
  void add(const coverage& other) noexcept;
  /// Takes over what the cores have counted since the last time.
  void take_cells() noexcept;
};

/// The table of states and events; nothing where they are not counted.
[[nodiscard]] std::string cell_table(const coverage& seen);

[[nodiscard]] std::string report(const coverage& seen, std::uint64_t histories);

}  // namespace partita::simulate
