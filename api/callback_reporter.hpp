// Tells a producer of exceptions that left callbacks of operations. These can be called when it is
// gone: nobody is told then.
//
// Invariants
// 1. After stop() the receiver is not called, nor is it running.
//
// Threads: any; a mutex. The receiver may come back here.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace partita::detail {

class callback_reporter {
 public:
  using receiver = void (*)(void* context, std::exception_ptr what) noexcept;

  callback_reporter(receiver to, void* context) noexcept : to_(to), context_(context) {}
  callback_reporter(const callback_reporter&) = delete;
  callback_reporter& operator=(const callback_reporter&) = delete;

  void retain() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  /// Deletes it when nobody holds it any more.
  void release() noexcept {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

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
};

/// The producer's share in it.
class reporter_owner {
 public:
  reporter_owner(callback_reporter::receiver to, void* context)
      : reporter_(*new callback_reporter(to, context)) {
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
