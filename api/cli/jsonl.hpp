// One line of jsonl to one record.
//
//     {"key":"42","value":"paid","headers":{"source":"web"},"partition":3}
//
// Members: topic, key, value (text or null), key_base64, value_base64, headers (an object of text
// or null, or an array of {"key":..,"value":..} or {"key":..,"value_base64":..}), partition,
// timestamp (milliseconds). All are optional; an absent value is a tombstone.
//
// Invariants
// 1. What is not understood is an error with its column, never skipped: a misspelt "vlaue" must not
//    become a tombstone. That holds for unknown members, repeated ones and wrong types.
// 2. Bytes after the object, invalid UTF-8 and unpaired surrogates are errors.
//
// Threads: pure.
#pragma once

#include "api/cli/input_record.hpp"

#include <optional>
#include <string_view>

namespace partita::cli {

/// Empty when the line was read into `record`, which the caller passes fresh.
[[nodiscard]] std::optional<input_error> parse_jsonl(std::string_view line, input_record& record);

/// Only JSON whitespace.
[[nodiscard]] bool is_blank(std::string_view line) noexcept;

}  // namespace partita::cli
