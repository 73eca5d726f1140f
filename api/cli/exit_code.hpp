// What the program's exit code says. One table for all subcommands that produce.
//
// Invariants
// 1. Where several apply: 130, then 1, 5, 6, then 3 before 4 before 2. So 3 always means that a
//    blind second run may duplicate records, and 2 that it can not.
//
// Threads: pure functions.
#pragma once

#include <partita/outcome.hpp>

#include <system_error>

namespace partita::cli {

enum class exit_code : int {
  ok = 0,           ///< everything delivered, every check passed
  usage = 1,        ///< wrong usage, configuration or input; output that could not be written
  not_written = 2,  ///< some records not written, or skipped because they could not be read
  unknown = 3,      ///< some outcomes unknown
  halted = 4,       ///< a partition or a key is halted
  denied = 5,       ///< authentication or authorisation failed
  unreachable = 6,  ///< no broker could be talked to
  interrupted = 130,
};

/// What is known at the end of a run.
struct run_facts {
  tally counts;
  bool interrupted = false;
  bool bad_input = false;
  bool denied = false;
  bool unreachable = false;
  bool halted = false;
  bool skipped_input = false;  ///< lines that could not be read were passed over
};

[[nodiscard]] exit_code exit_code_of(const run_facts& facts) noexcept;

/// The code means that the broker knows us and says no.
[[nodiscard]] bool is_denied(std::error_code code) noexcept;
/// The code means that there is no Kafka broker to talk to.
[[nodiscard]] bool is_unreachable(std::error_code code) noexcept;

}  // namespace partita::cli
