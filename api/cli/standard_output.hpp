// Whether what was printed has arrived.
//
// Invariants
// 1. A command whose output got lost never ends with 0: who reads it takes nothing for everything.
//
// Threads: one.
#pragma once

#include "api/cli/exit_code.hpp"

namespace partita::cli {

/// Writes out what is buffered, and says on standard error why it could not be; the exit code then
/// is that of the run, or `usage` where that was 0.
[[nodiscard]] exit_code with_output_written(exit_code code);

/// Writes out what is buffered. False, and said why: what is to be read has not arrived.
[[nodiscard]] bool write_output_out();

/// From now on a reader that went away fails the next write, and no longer ends the program: that
/// would take unanswered records with it.
void outlive_readers() noexcept;

}  // namespace partita::cli
