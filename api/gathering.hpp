// Collects answers from several actors into one value.
//
// Invariants
// 1. The value is handed over once, when every expected part was added and somebody asked for it.
//
// Threads: any; parts come from several lanes. The hand-over runs on the thread of the last part.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace partita::detail {

template <class T>
class gathering : public std::enable_shared_from_this<gathering<T>> {
 public:
  static std::shared_ptr<gathering> make() { return std::make_shared<gathering>(); }

  /// Called for each part before it can be added.
  void expect_one_more() {
    std::lock_guard lock(mutex_);
    ++expected_;
  }

  template <class Change>
  void add(Change&& change) {
    // Kept alive while the hand-over runs: it may drop the last other reference.
    const auto self = this->shared_from_this();
    std::unique_lock lock(mutex_);
    change(value_);
    --expected_;
    finish(lock);
  }

  /// Call after all parts are expected.
  void when_done(std::function<void(T&)> next) {
    const auto self = this->shared_from_this();
    std::unique_lock lock(mutex_);
    next_ = std::move(next);
    finish(lock);
  }

 private:
  void finish(std::unique_lock<std::mutex>& lock) {
    if (expected_ != 0 || !next_) return;
    const auto next = std::exchange(next_, nullptr);
    lock.unlock();
    next(value_);
  }

  std::mutex mutex_;
  T value_{};
  std::size_t expected_ = 0;
  std::function<void(T&)> next_;
};

}  // namespace partita::detail
