// The notation of attempts and of outcomes, as text.
//
//   attempt   NAME#NUMBER or NAME#n, then `+>` (handed to the broker's rules) or `->` (not), then
//   what the
//             client sees: ok, a code, (-1), cut, reset, mute (no answer, what follows is executed
//             and not answered either), stuck (no answer, nothing behind it is looked at), badid,
//             torn, garbage
//   and       @500ms   answered so much later
//             late=3s  executed so much later; with cut the connection ends at once
//             base=-1  offset of an error answer (default: the real one after +, -1 after -)
//             base=9   of a success: this offset, whatever is true
//             throttle=5s
//
// Threads: pure functions.
#pragma once

#include <partita/testing/fault.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace partita::testing {

struct scripted_attempt {
  std::string name;
  int attempt = 0;  ///< 0: n
  testing::fault fault;
};

/// Throws std::invalid_argument: a typing error in a scenario is a failure of it.
[[nodiscard]] std::vector<scripted_attempt> parse_attempts(std::string_view text);

/// "A#1 stored" as name, attempt and fact.
struct attempt_fact {
  std::string name;
  int attempt = 1;
  std::string fact;
};
[[nodiscard]] attempt_fact parse_fact(std::string_view text);

/// "A(k1)@p1" as its parts.
struct record_word {
  std::string name;
  std::string key;  ///< empty: none was said
  int partition = 0;
};
[[nodiscard]] record_word parse_record(std::string_view word);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char by);
[[nodiscard]] std::string trim(std::string_view text);

}  // namespace partita::testing
