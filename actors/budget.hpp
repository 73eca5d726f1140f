// Admission by bytes: what all buffered records together may take.
//
// Invariants
// 1. taken + available == capacity at every moment; nothing is stranded anywhere.
// 2. FIFO: while somebody waits (or is just being granted), try_take() fails and take_or_wait()
//    queues. Grants are called one after the other, in the order of waiting.
// 3. A waiter hears exactly one of: granted, closed, or a cancel_wait() that answered true.
//
// One atomic operation takes or returns; there are no thread-local slices. Slices save a few
// nanoseconds, but they strand bytes in threads that went quiet, and a waiter could then starve
// while enough bytes lie idle. Exactness was preferred.
//
// Threads: any. on_grant runs on the thread that returned the bytes (or closed), without locks
// held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace partita::actors {

enum class grant : std::uint8_t { granted, closed };

/// A request that waits. Embedded in its owner, which also watches the deadline.
struct budget_waiter {
  using callback = void (*)(budget_waiter&, grant) noexcept;

  budget_waiter(callback on_grant, void* owner) noexcept : on_grant(on_grant), owner(owner) {}
  budget_waiter(const budget_waiter&) = delete;
  budget_waiter& operator=(const budget_waiter&) = delete;

  const callback on_grant;  ///< the last touch of the waiter by the budget: it may destroy itself
  void* const owner;
  std::uint64_t bytes = 0;

 private:
  friend class budget;
  budget_waiter* next_ = nullptr;
  budget_waiter* prev_ = nullptr;
  bool queued_ = false;
};

enum class admission : std::uint8_t { taken, waiting, closed };

class budget {
 public:
  explicit budget(std::uint64_t capacity);
  budget(const budget&) = delete;
  budget& operator=(const budget&) = delete;
  ~budget();

  /// `bytes` must be <= capacity(), here and below: check before (record_too_large).
  [[nodiscard]] bool try_take(std::uint64_t bytes) noexcept;

  /// Takes now, or queues the waiter. A waiter that was queued may be granted before this returns.
  [[nodiscard]] admission take_or_wait(std::uint64_t bytes, budget_waiter& waiter) noexcept;

  /// True: taken out of the queue, it will hear nothing. False: it was granted or closed, or is
  /// being told so right now on another thread.
  [[nodiscard]] bool cancel_wait(budget_waiter& waiter) noexcept;
  /// The same in two steps, for callers that hold a lock which on_grant takes: whoever waited
  /// behind it is granted by grant_waiting(), to be called next, without that lock.
  [[nodiscard]] bool leave_wait(budget_waiter& waiter) noexcept;
  void grant_waiting() noexcept;

  /// Returns bytes (once per batch, not per record) and grants to those who wait.
  void give_back(std::uint64_t bytes) noexcept;

  /// Refuses everybody who waits and every later request. Bytes can still be given back.
  void close() noexcept;

  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint64_t available() const noexcept;
  [[nodiscard]] std::uint64_t taken() const noexcept { return capacity_ - available(); }
  [[nodiscard]] std::size_t waiting() const noexcept;
  /// Somebody waits, or it is closed. A glance: it may change at any moment.
  [[nodiscard]] bool awaited() const noexcept {
    return (word_.load(std::memory_order_relaxed) & 1U) != 0;
  }

 private:
  bool take_if_available(std::uint64_t bytes) noexcept;
  void grant_in_order(std::unique_lock<std::mutex>& lock) noexcept;
  void unlink(budget_waiter& waiter) noexcept;

  const std::uint64_t capacity_;
  // available * 2 + 1 if the fast path is shut (somebody waits, or closed).
  std::atomic<std::uint64_t> word_;
  mutable std::mutex mutex_;
  budget_waiter* first_ = nullptr;
  budget_waiter* last_ = nullptr;
  std::size_t waiting_ = 0;
  bool granting_ = false;
  bool closed_ = false;
};

}  // namespace partita::actors
