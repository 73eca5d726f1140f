// Counts the answers of a producer with several lanes, and lets the producing thread wait for some.
//
// Invariants
// 1. Each lane has a counter of its own, on a cache line of its own.
//
// Threads: take() on the lanes, the rest on the producing thread. One object in a process.
#pragma once

#include "bench/load_partita/answers.hpp"

#include <array>
#include <bit>

namespace partita::bench {

class lane_answers {
 public:
  /// The thread that waits is woken after about a quarter of `open` answers, or of 1,024.
  explicit lane_answers(std::uint64_t open)
      : wake_mask_(std::bit_floor(std::clamp<std::uint64_t>(open / 4, 1, 1024)) - 1) {}

  void take(const outcome& answer) noexcept {
    counter& mine = own();
    if (!answer) add_one(mine.failed);
    const std::uint64_t count = add_one(mine.answered);
    if ((count & wake_mask_) == 0 && waiting_.load(std::memory_order_relaxed) &&
        waiting_.exchange(false))
      some_.release();
  }
  /// Until some answers came. The limit in time covers an answer that fell before the mark was set.
  void wait() {
    waiting_.store(true);
    ++waits_;
    if (!some_.try_acquire_for(std::chrono::milliseconds(1))) {
      if (!waiting_.exchange(false)) some_.acquire();
    }
  }
  [[nodiscard]] std::uint64_t answered() const { return sum(&counter::answered); }

  /// Tells the count; an exit code: 1 when not all were delivered.
  [[nodiscard]] int report(std::uint64_t produced) const {
    return tell_answered(answered(), sum(&counter::failed), produced, waits_);
  }

 private:
  static constexpr std::size_t lanes_max = 15;
  struct alignas(64) counter {
    std::atomic<std::uint64_t> answered{0}, failed{0};
  };

  static std::uint64_t add_one(std::atomic<std::uint64_t>& to) noexcept {
    const std::uint64_t count = to.load(std::memory_order_relaxed) + 1;
    to.store(count, std::memory_order_release);
    return count;
  }
  /// A producing thread that is told of a refusal counts as one more lane.
  counter& own() noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t index = threads.fetch_add(1) % counters_.size();
    return counters_[index];
  }
  std::uint64_t sum(std::atomic<std::uint64_t> counter::*which) const {
    std::uint64_t all = 0;
    for (const counter& each : counters_) all += (each.*which).load(std::memory_order_acquire);
    return all;
  }

  const std::uint64_t wake_mask_;
  std::array<counter, lanes_max + 1> counters_;
  std::atomic<bool> waiting_{false};
  std::binary_semaphore some_{0};
  std::uint64_t waits_ = 0;
};

}  // namespace partita::bench
