// Which faults hit which produce attempt.
//
// Invariants
// 1. A scripted fault counts every attempt that matches it, and hits exactly `times` of them.
// 2. At most one fault per partition and attempt: the first injected one that matches and still has
// hits.
//
// Threads: pure, one owner; randomness is an argument.
#pragma once

#include "api/testing/batch_bytes.hpp"

#include <partita/testing/fault.hpp>
#include <partita/testing/virtual_time.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace partita::testing {

/// What a fault is matched with; `records` is the records field as it was sent.
struct attempt_view {
  std::string_view topic;
  std::int32_t partition = -1;
  std::int32_t broker = -1;
  byte_view records{};
};

class fault_plan {
 public:
  void add(const fault& wanted) { scripted_.push_back({wanted, 0}); }
  void set(const fault_mix& mix) { mix_ = mix; }
  void clear() {
    scripted_.clear();
    mix_ = {};
  }

  /// The scripted fault of this partition's attempt; counts the attempt.
  std::optional<fault> next(const attempt_view& attempt);
  /// The random fault of a whole request, if any.
  std::optional<fault> draw(seeded_draws& draws) const;

 private:
  struct script {
    fault wanted;
    int seen;
  };
  [[nodiscard]] std::chrono::milliseconds late(seeded_draws& draws) const;

  std::vector<script> scripted_;
  fault_mix mix_;
};

}  // namespace partita::testing
