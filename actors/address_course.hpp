// Which address the control connection tries next: the known brokers in turn, and the bootstrap
// servers again when none of them answers (KIP-899, KIP-1102). Pure.
//
// Invariants
// 1. While nothing is known, the bootstrap servers are tried in turn, whatever the strategy.
// 2. Known brokers are left for the bootstrap servers when each of them failed once in a row, or
//    when nobody has answered for the trigger time; after a round there they are tried again.
// 3. One outage counts as one rebootstrap, however many rounds it takes (META-12).
//
// Threads: owned by one actor.
#pragma once

#include "actors/instant.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace partita::actors {

class address_course {
 public:
  struct settings {
    bool rebootstrap = true;
    duration trigger = std::chrono::minutes(5);
  };
  struct choice {
    bool bootstrap = false;
    std::size_t index = 0;
    bool others = false;  ///< a failure leads to another address
  };

  explicit address_course(const settings& with) noexcept : settings_(with) {}

  /// For the next connection. `known` brokers are known now, `bootstrap` > 0 servers configured.
  [[nodiscard]] choice next(std::size_t known, std::size_t bootstrap, instant now) noexcept {
    if (at_bootstrap_ && known > 0 && tried_ >= bootstrap) turn_to(false);
    if (!at_bootstrap_ && known > 0 && settings_.rebootstrap && is_time(known, now)) {
      if (!counted_) ++rebootstraps_;
      counted_ = true;
      turn_to(true);
    }
    if (at_bootstrap_ || known == 0) return {true, cursor_ % bootstrap, bootstrap > 1};
    return {false, cursor_ % known, known > 1};
  }

  /// The connection failed, or ended.
  void failed(instant now) noexcept {
    ++tried_;
    ++cursor_;
    if (!failing_since_) failing_since_ = now;
  }

  /// A broker answered.
  void answered() noexcept {
    tried_ = 0;
    at_bootstrap_ = false;
    counted_ = false;
    failing_since_.reset();
  }

  /// A broker said that it belongs to another cluster by now (KIP-1102).
  void rebootstrap_required() noexcept {
    ++rebootstraps_;
    counted_ = true;
    turn_to(settings_.rebootstrap);
  }

  [[nodiscard]] std::uint64_t rebootstraps() const noexcept { return rebootstraps_; }

 private:
  [[nodiscard]] bool is_time(std::size_t known, instant now) const noexcept {
    return tried_ >= known || (failing_since_ && now - *failing_since_ >= settings_.trigger);
  }
  void turn_to(bool bootstrap) noexcept {
    at_bootstrap_ = bootstrap;
    tried_ = 0;
    // Each turn to the known ones gives the trigger its time anew.
    if (!bootstrap) failing_since_.reset();
  }

  settings settings_;
  bool at_bootstrap_ = false;
  bool counted_ = false;
  std::size_t tried_ = 0;   // failures since the last turn or answer
  std::size_t cursor_ = 0;  // goes on over turns, so that rounds do not begin with the same one
  std::optional<instant> failing_since_;
  std::uint64_t rebootstraps_ = 0;
};

}  // namespace partita::actors
