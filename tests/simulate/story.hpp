// One history: a cluster in virtual time, producers, faults, and the verdict at its end.
//
// Invariants
// 1. Everything in it comes from its plan: the same plan gives the same trace hash, to the last
//    microsecond, in every process.
// 2. Faults end before the verdict: what is produced after them must arrive (I14), and every
// delayed
//    packet has landed when the logs are read.
//
// Threads: one.
#pragma once

#include "tests/simulate/coverage.hpp"
#include "tests/simulate/judge.hpp"
#include "tests/simulate/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace partita::simulate {

struct story_end {
  std::vector<finding> findings;
  std::uint64_t trace_hash = 0;
};

story_end run_story(const plan& history, coverage& seen, const diary& trace = nullptr);

}  // namespace partita::simulate
