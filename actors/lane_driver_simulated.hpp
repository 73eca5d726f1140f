// A lane that somebody steps by hand: virtual time, one thread, a chosen order.
//
// Invariants
// 1. Nothing runs by itself: the owner calls step() when due() says so. The same calls give the
//    same run.
//
// Threads: one, except that wake() may come from any (it only sets a flag).
#pragma once

#include "actors/environment.hpp"
#include "actors/lane_driver.hpp"

#include <atomic>
#include <cstdint>

namespace partita::actors {

/// A clock that moves when it is told to.
class virtual_clock final : public clock_source {
 public:
  explicit virtual_clock(instant start = instant{} + std::chrono::hours(1),
                         timestamp wall_start = timestamp{std::chrono::hours(24 * 365 * 50)})
      : start_(start), now_(start), wall_start_(wall_start) {}

  [[nodiscard]] instant now() const noexcept override { return now_; }
  [[nodiscard]] timestamp wall_now() const noexcept override {
    return wall_start_ + std::chrono::floor<std::chrono::milliseconds>(now_ - start_);
  }
  /// Never backwards.
  void advance_to(instant time) noexcept { now_ = time > now_ ? time : now_; }

 private:
  const instant start_;
  instant now_;
  const timestamp wall_start_;
};

class simulated_driver final : public lane_driver {
 public:
  /// `transport` may be null; `on_wake` tells a scheduler that due() changed.
  explicit simulated_driver(wire::transport* transport = nullptr,
                            void (*on_wake)(void*) noexcept = nullptr,
                            void* context = nullptr) noexcept
      : transport_(transport), on_wake_(on_wake), context_(context) {}

  void start(lane& driven) override;
  void wake() noexcept override;
  [[nodiscard]] bool runs_here() const noexcept override { return true; }
  void run_there(void (*work)(void*), void* argument) override { work(argument); }
  void request_end() noexcept override { lane_ = nullptr; }
  void join() override {}
  [[nodiscard]] wire::transport* transport() noexcept override { return transport_; }

  /// When the lane wants to run next: instant::min() at once, `never` after a wake-up only.
  [[nodiscard]] instant due() const noexcept {
    return woken_.load(std::memory_order_acquire) ? instant::min() : deadline_;
  }
  /// One round of the lane, at the clock's time.
  void step();
  [[nodiscard]] std::uint64_t wake_ups() const noexcept { return wake_ups_; }

 private:
  lane* lane_ = nullptr;
  wire::transport* transport_;
  void (*on_wake_)(void*) noexcept;
  void* context_;
  std::atomic<bool> woken_{false};
  std::atomic<std::uint64_t> wake_ups_{0};
  instant deadline_ = never;
};

}  // namespace partita::actors
