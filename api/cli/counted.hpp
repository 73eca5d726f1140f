// A number with its noun, for people.
//
// Threads: pure.
#pragma once

#include <cstdint>
#include <string>

namespace partita::cli {

/// "1 record", "2 records".
[[nodiscard]] inline std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace partita::cli
