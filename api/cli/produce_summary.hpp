// What `partita produce` says at its end.
//
// Threads: pure.
#pragma once

#include "api/cli/delivery_ledger.hpp"
#include "api/cli/exit_code.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace partita::cli {

struct run_summary {
  ledger_view ledger;
  std::uint64_t accepted = 0;
  std::uint64_t bad_lines = 0;
  std::uint64_t first_failed_line = 0;  ///< of the input; 0: none
  bool interrupted = false;
  std::string unreachable;  ///< why, if no broker could be talked to
  std::chrono::milliseconds elapsed{0};
  cli::exit_code exit_code = cli::exit_code::ok;
};

/// One object on one line.
[[nodiscard]] std::string summary_json(const run_summary& summary);
/// A line with the counts, one for each reason of a failure, and if asked for one a partition.
[[nodiscard]] std::string summary_text(const run_summary& summary, bool per_partition);

}  // namespace partita::cli
