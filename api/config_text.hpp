// Text to values and back, for settings.
//
// Invariants
// 1. Numbers are plain decimal digits with an optional sign; nothing overflows, nothing is rounded.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept;

/// The parts between separators, trimmed; empty parts are kept.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text) noexcept;

/// A decimal number in thousandths: "0.25" is 250. At most three decimals, none of them lost.
[[nodiscard]] std::optional<std::int64_t> parse_thousandths(std::string_view text) noexcept;
[[nodiscard]] std::string print_thousandths(std::int64_t thousandths);

/// true, t, 1 and false, f, 0, whatever the case: what Java and librdkafka accept.
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text) noexcept;

/// A value as a message shows it: the beginning of a long one, and its size.
[[nodiscard]] std::string shortened(std::string_view value);

/// Insertions, deletions and substitutions that turn one into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

}  // namespace partita
