// Runs many histories in several processes: one that crashes or hangs is a finding with its seed,
// not the end of the run.
//
// Invariants
// 1. What is found does not depend on the number of processes, nor does the digest of the traces.
//
// Threads: one; children are forked from it.
#pragma once

#include "tests/simulate/coverage.hpp"
#include "tests/simulate/judge.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace partita::simulate {

struct crew_task {
  std::uint64_t first = 1;
  std::uint64_t last = 1;  ///< included
  std::string profile = "mixed";
  int jobs = 1;
  bool stop_at_first = false;  ///< ends behind the smallest seed with a finding
};

struct crew_finding {
  std::uint64_t seed;
  finding what;
};

struct crew_end {
  std::uint64_t histories = 0;
  std::uint64_t digest = 0;  ///< of all trace hashes, whatever their order
  double cpu_seconds = 0;
  double wall_seconds = 0;
  coverage seen;
  std::vector<crew_finding> findings;  ///< by seed; at most `findings_max`
  std::uint64_t seeds_with_findings = 0;
};
inline constexpr std::size_t findings_max = 1000;

/// `told` is called for each finding as it comes.
crew_end run_crew(const crew_task& task, const std::function<void(const crew_finding&)>& told);

}  // namespace partita::simulate
