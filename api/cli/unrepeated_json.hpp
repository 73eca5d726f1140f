// JSON in which no member stands twice. The parser takes the last of two equal members and drops
// the other in silence: a command would do half of what was written, and an outcome be another.
//
// Threads: any.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace partita::cli {

/// Reads a line. Empty: `into` has it. Else why not; a member that stands twice, in whatever object
/// of the line, is named with the column where it stands the second time (bytes from 1).
[[nodiscard]] std::string parse_unrepeated(std::string_view line, nlohmann::json& into);

}  // namespace partita::cli
