// Whether what was seen agrees with what is said to be impossible of states and events.
//
// Threads: pure.
#pragma once

#include "tests/simulate/coverage.hpp"

namespace partita::simulate {

/// A state met an event of which cells.cpp says why it can not: one of the two is wrong.
[[nodiscard]] bool contradicts_its_cells(const coverage& seen) noexcept;

}  // namespace partita::simulate
