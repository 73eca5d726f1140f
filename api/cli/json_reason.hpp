// Why a line is no JSON, for people.
//
// Threads: any.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace partita::cli {

/// The parser takes such a byte for the end of the input, and what follows for nothing.
inline constexpr const char* nul_byte_reason = "a NUL byte is not allowed";

/// Without the parser's own codes and positions.
[[nodiscard]] std::string json_reason(const nlohmann::json::exception& thrown);

}  // namespace partita::cli
