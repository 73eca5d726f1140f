// Lets a kind of trouble into the log once a minute: what is retried many times a second says the
// same each time (LIE-09). Pure.
//
// Invariants
// 1. The first of a kind passes, and the first after a minute without one that passed.
// 2. No more than kinds_max kinds are remembered; the oldest is forgotten first.
//
// Threads: owned by one actor.
#pragma once

#include "actors/instant.hpp"

#include <cstddef>
#include <deque>
#include <system_error>

namespace partita::actors {

class log_gate {
 public:
  static constexpr std::size_t kinds_max = 16;
  static constexpr duration silence = std::chrono::minutes(1);

  [[nodiscard]] bool passes(std::error_code kind, instant now) {
    for (seen& each : seen_) {
      if (each.kind != kind) continue;
      if (now - each.at < silence) return false;
      each.at = now;
      return true;
    }
    if (seen_.size() == kinds_max) seen_.pop_front();
    seen_.push_back({kind, now});
    return true;
  }

 private:
  struct seen {
    std::error_code kind;
    instant at;
  };
  std::deque<seen> seen_;
};

}  // namespace partita::actors
