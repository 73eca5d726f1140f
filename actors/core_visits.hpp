// Which state of a partition met which event, counted for the program `simulate` alone
// (wire/mutant.hpp). Everywhere else PARTITA_VISIT leaves nothing behind.
//
// Threads: one history at a time.
#pragma once

#include "actors/verdict.hpp"

#include <partita/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#define PARTITA_CORE_EVENTS(X) \
  X(append)                    \
  X(set_leader)                \
  X(new_incarnation)           \
  X(id_arrived)                \
  X(id_refused)                \
  X(pause)                     \
  X(resume)                    \
  X(recover)                   \
  X(flush)                     \
  X(close)                     \
  X(send)                      \
  X(delivered)                 \
  X(refused)                   \
  X(doubtful)                  \
  X(lost)                      \
  X(timer)                     \
  X(cancel)                    \
  X(halt_request)              \
  X(settle_ticket)             \
  X(looked)

namespace partita::actors {

enum class core_event : std::size_t {
#define PARTITA_CORE_EVENT(name) name,
  PARTITA_CORE_EVENTS(PARTITA_CORE_EVENT)
#undef PARTITA_CORE_EVENT
      count
};
inline constexpr auto core_events = static_cast<std::size_t>(core_event::count);
inline constexpr std::array<std::string_view, core_events> core_event_names{
#define PARTITA_CORE_EVENT(name) #name,
    PARTITA_CORE_EVENTS(PARTITA_CORE_EVENT)
#undef PARTITA_CORE_EVENT
};

inline constexpr std::size_t core_states_max = 12;
/// By partition_state and event.
inline std::array<std::array<std::uint64_t, core_events>, core_states_max> core_visits{};

inline void visited(core_event event, partition_state state) noexcept {
  ++core_visits[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

inline core_event event_of(attempt_verdict verdict) noexcept {
  if (verdict == attempt_verdict::delivered) return core_event::delivered;
  return verdict == attempt_verdict::not_appended ? core_event::refused : core_event::doubtful;
}

}  // namespace partita::actors

#ifdef PARTITA_MUTANTS
#define PARTITA_VISIT(event, state) (::partita::actors::visited(event, state))

#else
#define PARTITA_VISIT(event, state) static_cast<void>(0)
#endif
