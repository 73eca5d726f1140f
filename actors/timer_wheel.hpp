// Timers of one lane: a hierarchical wheel of embedded nodes with a resolution of 1 ms.
//
// Invariants
// 1. A timer never fires before its deadline; it fires in the first advance() to or past the
//    millisecond that follows it.
// 2. arm, cancel and re-arm are O(1) and allocate nothing.
// 3. In one advance() timers fire in the order of their milliseconds.
// 4. next_deadline() is never later than the earliest timer. It may be earlier (by a cascade of the
//    wheel), at most once per level and timer.
//
// Threads: none; it belongs to one lane. Time is an argument.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace partita::actors {

/// A point of the steady clock (virtual in a simulation).
using instant = std::chrono::steady_clock::time_point;

/// "No deadline".
inline constexpr instant never = instant::max();

/// A timer. Embed it in its owner; it must be cancelled before the owner is destroyed.
class timer_node {
 public:
  using callback = void (*)(timer_node&) noexcept;

  /// `fire` finds its owner from the node (timer_node as a base, or `owner`).
  explicit timer_node(callback fire, void* owner = nullptr) noexcept : owner(owner), fire_(fire) {}
  timer_node(const timer_node&) = delete;
  timer_node& operator=(const timer_node&) = delete;
  ~timer_node();

  [[nodiscard]] bool armed() const noexcept { return next_ != nullptr; }
  /// As it was given to arm(); meaningful while armed and in its own callback.
  [[nodiscard]] instant deadline() const noexcept { return deadline_; }

  void* const owner;

 private:
  friend class timer_wheel;
  timer_node() noexcept : owner(nullptr), fire_(nullptr), next_(this), prev_(this) {}  // head
  [[nodiscard]] bool is_head() const noexcept { return fire_ == nullptr; }

  callback fire_;
  timer_node* next_ = nullptr;
  timer_node* prev_ = nullptr;
  std::uint64_t tick_ = 0;
  instant deadline_{};
  std::int16_t place_ = -1;  // level * slots + slot, or -1 in the list of those that are due
};

class timer_wheel {
 public:
  /// `origin` is tick 0; no timer can be due before it.
  explicit timer_wheel(instant origin);
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;
  /// Forgets the timers that are still armed, without firing them.
  ~timer_wheel();

  /// Arms or re-arms. A deadline that has passed is due at the next advance().
  void arm(timer_node& node, instant deadline) noexcept;
  /// Harmless when the timer is not armed.
  void cancel(timer_node& node) noexcept;

  /// Fires what is due, at most `limit` timers; the rest is due at once in the next call. Callbacks
  /// may arm and cancel any timer. Returns how many fired.
  std::size_t advance(instant now, std::size_t limit = SIZE_MAX) noexcept;

  /// When advance() is worth calling next; `never` without timers.
  [[nodiscard]] instant next_deadline() const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr int slot_bits = 6;
  static constexpr int slots = 1 << slot_bits;
  static constexpr int levels = 7;  // 2^42 ms, 139 years

  [[nodiscard]] std::uint64_t tick_at_or_before(instant time) const noexcept;
  [[nodiscard]] std::uint64_t tick_at_or_after(instant time) const noexcept;
  [[nodiscard]] int lowest_level() const noexcept;
  [[nodiscard]] std::uint64_t next_tick() const noexcept;
  void place(timer_node& node) noexcept;
  void open_next() noexcept;
  static void link_last(timer_node& head, timer_node& node) noexcept;
  static void detach(timer_node& node) noexcept;

  instant origin_;
  std::uint64_t tick_ = 0;  // all ticks up to and including this one were opened
  std::size_t size_ = 0;
  std::array<std::uint64_t, levels> occupied_{};  // one bit per slot
  timer_node heads_[levels * slots];
  timer_node due_;
};

}  // namespace partita::actors
