// Base64 (RFC 4648, section 4) with padding: how jsonl holds bytes that are no text.
//
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace partita::cli {

/// Empty result: not base64. Strict: no line breaks, padding required, no stray bits.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);
[[nodiscard]] std::string encode_base64(std::string_view bytes);

}  // namespace partita::cli
