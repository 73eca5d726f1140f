// The tickets that one application was given, and what settle() says of them: of some at once, of
// all of them at the end, once more.
//
// Invariants
// 1. What settle() says goes to the history, each time.
// 2. Nothing is held while the producer is called or the history told.
//
// Threads: take() on any; ask_one() and ask_all() on one. It outlives the producer that it asks.
#pragma once

#include "chaos/chaos_history.hpp"

#include <partita/producer.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace partita::chaos {

class ticket_box {
 public:
  explicit ticket_box(chaos_history& history) : history_(history) {}
  ticket_box(const ticket_box&) = delete;
  ticket_box& operator=(const ticket_box&) = delete;

  void take(ticket which);
  /// Asks for one that nobody has asked for, if there is one; `draw` chooses it. Does not wait.
  void ask_one(producer& whom, std::uint64_t draw);
  /// Asks for all of them, and waits until everything that was asked is answered. False: it was
  /// not, until `limit` had passed.
  bool ask_all(producer& whom, std::chrono::milliseconds limit);

  std::uint64_t given() const;
  /// How many were asked for before the end.
  std::uint64_t asked_early() const;

 private:
  void ask(producer& whom, ticket which);

  chaos_history& history_;
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<ticket> given_;
  std::vector<ticket> fresh_;  // of them, which nobody has asked for
  std::uint64_t early_ = 0;
  std::uint64_t open_ = 0;
};

}  // namespace partita::chaos
