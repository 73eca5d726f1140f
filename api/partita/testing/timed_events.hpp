// What is to happen in virtual time, earliest first: a heap beside a table of the actions.
//
// Invariants
// 1. Events of one instant come in the order of their ties, those of one tie in the order of add().
// 2. An event that was cancelled or taken is never met again, and its id names nothing.
//
// Threads: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace partita::testing {

class timed_events {
 public:
  using event_id = std::uint64_t;  ///< 0 names no event

  [[nodiscard]] bool empty() const noexcept { return live_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return live_; }
  /// When the first one is due. There is one.
  [[nodiscard]] std::int64_t first_due() const noexcept { return heap_.front().when; }

  event_id add(std::int64_t when, std::uint64_t tie, std::function<void()> action);
  void cancel(event_id event);
  /// Takes the first one out. There is one.
  std::function<void()> take_first();

 private:
  struct entry {
    std::int64_t when;
    std::uint64_t tie;
    event_id id;
  };
  struct slot {
    event_id id = 0;
    std::function<void()> action;
  };

  static bool later(const entry& a, const entry& b) noexcept;
  [[nodiscard]] bool is_live(const entry& each) const noexcept;
  void release(event_id event) noexcept;
  void drop_cancelled();

  std::vector<entry> heap_;  // its first entry is live; those of cancelled events go when met
  std::vector<slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t added_ = 0;
  std::size_t live_ = 0;
};

}  // namespace partita::testing
