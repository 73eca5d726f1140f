// What operations know of the producer that began them: whom to tell of exceptions that left their
// callbacks, and how long get() may wait. They can outlive it: nobody is told then.
//
// Invariants
// 1. After stop() the receiver is not called, nor is it running.
//
// Threads: any; a mutex. The receiver may come back here.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace partita::detail {

class callback_reporter {
 public:
  using receiver = void (*)(void* context, std::exception_ptr what) noexcept;

  using wait_limit = std::optional<std::chrono::milliseconds>;

  callback_reporter(receiver to, void* context, wait_limit get_wait_max) noexcept
      : to_(to), context_(context), get_wait_max_(get_wait_max) {}
  callback_reporter(const callback_reporter&) = delete;
  callback_reporter& operator=(const callback_reporter&) = delete;

  void retain() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  /// Deletes it when nobody holds it any more.
  void release() noexcept {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// None: the lanes do their work in bounded time, so get() waits as long as it takes.
  [[nodiscard]] wait_limit get_wait_max() const noexcept { return get_wait_max_; }
  void report(std::exception_ptr what) noexcept {
    const std::lock_guard lock(mutex_);
    if (to_ != nullptr) to_(context_, std::move(what));
  }
  void stop() noexcept {
    const std::lock_guard lock(mutex_);
    to_ = nullptr;
  }

 private:
  ~callback_reporter() = default;

  std::atomic<int> holders_{0};
  std::recursive_mutex mutex_;
  receiver to_;
  void* const context_;
  const wait_limit get_wait_max_;
};

/// The producer's share in it.
class reporter_owner {
 public:
  reporter_owner(callback_reporter::receiver to, void* context,
                 callback_reporter::wait_limit get_wait_max = std::nullopt)
      : reporter_(*new callback_reporter(to, context, get_wait_max)) {
    reporter_.retain();
  }
  reporter_owner(const reporter_owner&) = delete;
  reporter_owner& operator=(const reporter_owner&) = delete;
  ~reporter_owner() {
    reporter_.stop();
    reporter_.release();
  }
  [[nodiscard]] callback_reporter& get() const noexcept { return reporter_; }

 private:
  callback_reporter& reporter_;
};

}  // namespace partita::detail
