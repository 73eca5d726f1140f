// What `partita drive` says, one JSON object a line.
//
// Threads: pure.
#pragma once

#include <partita/control.hpp>
#include <partita/ids.hpp>
#include <partita/outcome.hpp>
#include <partita/settlement.hpp>
#include <partita/status.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::cli {

/// Since the start of the run.
using drive_time = std::chrono::microseconds;

/// The place that a command named, repeated in its answer.
struct drive_place {
  std::optional<std::string> topic;
  std::optional<partition_id> partition;
  std::optional<std::string> key;
};

struct drive_counts {
  std::uint64_t produced = 0;
  tally answered;
  [[nodiscard]] std::uint64_t open() const noexcept { return produced - answered.total(); }
};

/// {"event":"outcome","name":"A","t_ms":12.3,"outcome":"delivered","partition":0,"offset":5}
[[nodiscard]] std::string outcome_event(drive_time at, std::string_view name, const outcome& answer,
                                        bool resubmitted);
/// {"event":"settled","t_ms":12.3,"name":"A","verdict":"delivered","partition":0,"offset":5}
[[nodiscard]] std::string settled_event(drive_time at, std::string_view name,
                                        const settlement& verdict);
[[nodiscard]] std::string flushed_event(drive_time at, const drive_place& place,
                                        const tally& counts);
[[nodiscard]] std::string returned_event(drive_time at, const drive_place& place,
                                         const std::vector<std::string>& names);
/// halted or resumed: the whole partition, or the keys that it names.
[[nodiscard]] std::string partition_event_line(drive_time at, const partition_event& event);
/// The names of the records that are handed back, and the tally of what was unanswered.
[[nodiscard]] std::string closed_event(drive_time at, const std::vector<std::string>& names,
                                       const tally& counts);
[[nodiscard]] std::string status_event(drive_time at, const drive_counts& counts,
                                       const producer_status& status);
/// `verb` may be empty: the line named none.
[[nodiscard]] std::string error_event(drive_time at, std::uint64_t line, std::string_view verb,
                                      std::string_view message);

[[nodiscard]] const char* name_of(partition_state state) noexcept;

}  // namespace partita::cli
