// Which seed first shows each historic bug, and by which invariant.
//
// Threads: one.
#pragma once

#include "tests/simulate/crew.hpp"

#include <string>

namespace partita::simulate {

/// Switches on the mutants named, with commas between. False: there is none of that name.
bool switch_on(const std::string& names);

/// Prints the table of docs/testing.md. Exit code 0 when every bug is caught within the seeds, and
/// the control holds: a reused tuple without the ledger is seen by I1, and not by I3.
int print_mutant_table(crew_task task);

}  // namespace partita::simulate
