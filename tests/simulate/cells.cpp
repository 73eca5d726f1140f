// States of a partition against events: which cells were visited, and why others can not be.
#include "tests/simulate/cells.hpp"

#include <partita/status.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace partita::simulate {
namespace {

using actors::core_event;

struct state_row {
  partition_state state;
  std::string_view name;
};
constexpr std::array states{
    state_row{partition_state::normal, "normal"},
    state_row{partition_state::starting, "starting"},
    state_row{partition_state::leaderless, "leaderless"},
    state_row{partition_state::paused, "paused"},
    state_row{partition_state::halted, "halted"},
    state_row{partition_state::fencing, "fencing"},
    state_row{partition_state::settling, "settling"},
    state_row{partition_state::closing, "closing"},
};

struct impossible_row {
  std::optional<partition_state> state;
  core_event event;
  std::string_view why;
};
constexpr std::array impossible{
    impossible_row{partition_state::normal, core_event::id_arrived,
                   "an id is asked for by a partition that has none and sends nothing"},
    impossible_row{partition_state::normal, core_event::id_refused, "the same"},
    impossible_row{partition_state::fencing, core_event::id_arrived, "the same"},
    impossible_row{partition_state::fencing, core_event::id_refused, "the same"},
    impossible_row{partition_state::settling, core_event::id_arrived, "the same"},
    impossible_row{partition_state::settling, core_event::id_refused, "the same"},
    impossible_row{partition_state::closing, core_event::cancel, "everything was answered"},
    impossible_row{partition_state::starting, core_event::send,
                   "nothing is numbered without an id"},
    impossible_row{partition_state::starting, core_event::delivered,
                   "an id is asked for when every attempt has ended"},
    impossible_row{partition_state::starting, core_event::refused, "the same"},
    impossible_row{partition_state::starting, core_event::doubtful, "the same"},
    impossible_row{partition_state::starting, core_event::lost, "the same"},
    impossible_row{partition_state::leaderless, core_event::send, "there is nobody to send to"},
    impossible_row{partition_state::paused, core_event::send, "that is what a pause is"},
    impossible_row{partition_state::fencing, core_event::send, "the old epoch has ended"},
    impossible_row{partition_state::closing, core_event::send, "everything was answered"},
};

std::string padded(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + std::string(text);
}

std::string_view why_not(partition_state state, core_event event) {
  for (const impossible_row& each : impossible)
    if ((!each.state || *each.state == state) && each.event == event) return each.why;
  return {};
}

}  // namespace

bool contradicts_its_cells(const coverage& seen) noexcept {
  for (const state_row& state : states)
    for (std::size_t k = 0; k < actors::core_events; ++k)
      if (seen.cells[static_cast<std::size_t>(state.state)][k] != 0 &&
          !why_not(state.state, static_cast<core_event>(k)).empty())
        return true;
  return false;
}

void coverage::take_cells() noexcept {
  for (std::size_t i = 0; i < actors::core_states_max; ++i)
    for (std::size_t k = 0; k < actors::core_events; ++k) cells[i][k] += actors::core_visits[i][k];
  actors::core_visits = {};
}

std::string cell_table(const coverage& seen) {
  const bool counted = std::any_of(seen.cells.begin(), seen.cells.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](std::uint64_t cell) { return cell != 0; });
  });
  if (!counted) return {};
  std::string text = "events by states    ";
  std::string missing;
  std::string reasons;
  for (const state_row& state : states) text += padded(state.name, 12);
  text += "\n";
  for (std::size_t k = 0; k < actors::core_events; ++k) {
    const std::string event(actors::core_event_names[k]);
    text += "  " + event + std::string(18 - event.size(), ' ');
    for (const state_row& state : states) {
      const std::uint64_t count = seen.cells[static_cast<std::size_t>(state.state)][k];
      const std::string_view why = why_not(state.state, static_cast<core_event>(k));
      text += padded(count != 0 ? std::to_string(count) : why.empty() ? "-" : "impossible", 12);
      const std::string cell = "  " + event + " while " + std::string(state.name) + ": ";
      if (count != 0 && !why.empty()) missing += cell + "seen, though impossible\n";
      if (count == 0 && why.empty()) missing += cell + "not seen\n";
      if (count == 0 && !why.empty()) reasons += cell + "impossible: " + std::string(why) + "\n";
    }
    text += "\n";
  }
  return text + reasons + missing;
}

}  // namespace partita::simulate
