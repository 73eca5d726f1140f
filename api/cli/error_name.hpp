// Error codes as one word, for programs that read our output.
//
// Threads: pure.
#pragma once

#include <string>
#include <system_error>

namespace partita::cli {

/// "delivery_timeout" for ours, "MESSAGE_TOO_LARGE" for Kafka's, "category:7" for others; empty
/// without an error.
[[nodiscard]] std::string error_name(std::error_code code);

}  // namespace partita::cli
