// A producer in the child of a fork(): its lanes are threads, which a child does not inherit, and
// its connections are the parent's. So there it refuses everything at once, and is abandoned
// instead of destroyed: nothing is sent on the parent's sockets, no lock that a lost thread may
// have held is waited for (MEM-11).
//
// Invariants
// 1. In a child, is_in_child() is true and `shut` is set before fork() returns there.
//
// Threads: any.
#pragma once

#include <atomic>

namespace partita::detail {

class fork_guard {
 public:
  /// `shut` outlives the guard.
  explicit fork_guard(std::atomic<bool>& shut);
  ~fork_guard();
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;

  [[nodiscard]] bool is_in_child() const noexcept {
    return in_child_.load(std::memory_order_relaxed);
  }

 private:
  friend class fork_guards;

  std::atomic<bool>& shut_;
  std::atomic<bool> in_child_{false};
  fork_guard* next_ = nullptr;
  fork_guard* previous_ = nullptr;
};

}  // namespace partita::detail
