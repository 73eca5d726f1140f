// Text of files, options and brokers in messages for people.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace partita::cli {

/// Line feeds and well-formed UTF-8 as they are; control characters, and bytes that are no text, as
/// \xNN: what a file holds must not steer the terminal.
[[nodiscard]] std::string printable_message(std::string_view text);

}  // namespace partita::cli
