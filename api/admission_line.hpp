// Records that wait for room in buffer.memory: first come first served, each at most max.block.ms
// or its own limit.
//
// Invariants
// 1. A waiting record is admitted, or answered: admission_timeout, cancelled, or closed.
// 2. Grants go through lane 0, never straight into the turn that freed the room: there they would
//    overtake what is already queued (L5).
// 3. Until a granted record is in its partition's queue nobody else takes room (L5): it would
//    overtake it there.
//
// Threads: wait() from any; the rest on lane 0 and on the threads that free room.
#pragma once

#include "actors/budget.hpp"
#include "actors/completion.hpp"
#include "actors/instant.hpp"
#include "actors/lane.hpp"

#include <partita/record.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace partita::detail {

/// Something that waits for room. Exactly one of the two is called; each may delete it.
class admission_waiter : public actors::budget_waiter {
 public:
  admission_waiter() : budget_waiter(&granted_or_closed, nullptr) {}
  virtual ~admission_waiter() = default;
  virtual void admitted() noexcept = 0;
  virtual void refused(client_errc code) noexcept = 0;

 private:
  friend class admission_line;
  static void granted_or_closed(actors::budget_waiter& waiter, actors::grant what) noexcept;

  class admission_line* line_ = nullptr;
  actors::instant deadline_{};
  std::multimap<actors::instant, admission_waiter*>::iterator place_;
};

class admission_line {
 public:
  /// `on_full`, if set: the first begins to wait. On his thread.
  admission_line(actors::budget& room, actors::lane& home, const actors::clock_source& clock,
                 actors::duration wait_max, std::function<void()> on_full = {});
  ~admission_line();

  /// Takes the room now, or not at all.
  [[nodiscard]] bool take_now(std::uint64_t bytes) noexcept;
  /// Takes the room now (true: go on at once, nothing waits) or lines up and later calls one of
  /// the waiter's members, maybe before this returns.
  [[nodiscard]] bool take_or_wait(std::uint64_t bytes, admission_waiter& waiter,
                                  std::optional<std::chrono::milliseconds> wait_max = {});
  /// True: it waits no more, and is refused as cancelled on lane 0. False: it does not wait, or is
  /// being granted. Only while it lives.
  bool withdraw(admission_waiter& waiter) noexcept;
  /// Whether one that was granted has not reached its partition yet.
  [[nodiscard]] bool letting_in() const noexcept {
    return on_their_way_.load(std::memory_order_acquire) != 0;
  }

 private:
  friend class admission_waiter;
  void leave(admission_waiter& waiter) noexcept;
  void let_in(admission_waiter& waiter) noexcept;
  void admit_granted() noexcept;
  void watch() noexcept;
  void timer_fired() noexcept;

  actors::budget& room_;
  actors::lane& home_;
  const actors::clock_source& clock_;
  const actors::duration wait_max_;
  const std::function<void()> on_full_;
  std::atomic<bool> watch_posted_{false};
  std::mutex mutex_;
  std::multimap<actors::instant, admission_waiter*> line_;  // by their limits
  std::list<admission_waiter*> granted_;  // in the order of the grants, on their way to lane 0
  std::atomic<std::size_t> on_their_way_{0};
  bool admitting_posted_ = false;
  actors::timer_node timer_;
};

}  // namespace partita::detail
