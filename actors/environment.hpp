// What is injected, so that a run can be repeated: the clocks and the source of randomness.
//
// The transport (wire/stream.hpp) and the executor come with the lane's driver.
//
// Invariants
// 1. Nothing below the api layer reads a clock or draws a random number except through these.
//
// Threads: a clock is used from every lane; a random_source belongs to one lane.
#pragma once

#include <partita/outcome.hpp>

#include "actors/timer_wheel.hpp"

#include <cstdint>

namespace partita::actors {

class clock_source {
 public:
  virtual ~clock_source() = default;
  [[nodiscard]] virtual instant now() const noexcept = 0;
  /// The wall clock, for record timestamps only.
  [[nodiscard]] virtual timestamp wall_now() const noexcept = 0;
};

/// The machine's clocks.
const clock_source& system_clocks() noexcept;

/// splitmix64: small, seedable, good enough for jitter and choices (not for secrets).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  /// In [0, bound); 0 when bound is 0. The bias is bound / 2^64.
  std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }

  /// Uniform in [0, 1).
  double fraction() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

struct environment {
  const clock_source* clock = &system_clocks();
  std::uint64_t seed = 0;  ///< 0: drawn from the machine when the runtime starts
};

}  // namespace partita::actors
