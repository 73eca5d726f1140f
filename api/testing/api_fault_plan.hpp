// Which faults hit requests of the APIs beside Produce, and which lies go into Metadata.
//
// Invariants
// 1. As fault_plan: every match counts, the first injected one that still has hits wins.
//
// Threads: pure, one owner; randomness is an argument.
#pragma once

#include "wire/messages/metadata.hpp"

#include <partita/testing/api_fault.hpp>
#include <partita/testing/virtual_time.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace partita::testing {

class api_fault_plan {
 public:
  void add(const api_fault& wanted) { faults_.push_back({wanted, 0}); }
  void add(const metadata_lie& wanted) { lies_.push_back({wanted, 0}); }
  void disturb(double probability) { disturb_ = probability; }
  void clear();

  /// The fault of this request, if any; counts the request.
  std::optional<api_fault> next(std::int16_t key, std::int32_t broker, seeded_draws& draws);
  /// Puts the lies of this broker into a true answer. True when there was one.
  bool lie(wire::metadata_response& truth, std::int32_t broker);

 private:
  template <class Wanted>
  struct script {
    Wanted wanted;
    int seen;

    /// Counts a match; true when it is one of those to hit.
    bool count() {
      const int number = seen++;
      return number >= wanted.skip_first && number - wanted.skip_first < wanted.times;
    }
  };

  [[nodiscard]] std::optional<api_fault> draw(seeded_draws& draws) const;

  std::vector<script<api_fault>> faults_;
  std::vector<script<metadata_lie>> lies_;
  double disturb_ = 0;
};

}  // namespace partita::testing
