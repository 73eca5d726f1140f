// Counts partita's answers, and lets the producing thread wait for room.
//
// Invariants
// 1. take() is called by one lane only.
//
// Threads: take() on the lane, the rest on the producing thread.
#pragma once

#include "bench/load.hpp"

#include <partita/producer.hpp>

#include <atomic>
#include <semaphore>

namespace partita::bench {

inline constexpr std::string_view topic_name = "partita";

/// Tells the counts; an exit code: 1 when not all were delivered.
[[nodiscard]] int tell_answered(std::uint64_t answered, std::uint64_t failed,
                                std::uint64_t produced, std::uint64_t waits);

class answers {
 public:
  /// Called by one lane only, so that a plain store will do.
  void take(const outcome& answer) noexcept {
    if (!answer)
      failed_.store(failed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::uint64_t count = answered_.load(std::memory_order_relaxed) + 1;
    answered_.store(count, std::memory_order_release);
    if (count % wake_every == 0 && waiting_.load(std::memory_order_relaxed) &&
        waiting_.exchange(false))
      room_.release();
  }
  /// Until some answers came. The limit in time covers an answer that fell before the mark was set.
  void wait() {
    waiting_.store(true);
    ++waits_;
    if (!room_.try_acquire_for(std::chrono::milliseconds(1))) {
      if (!waiting_.exchange(false)) room_.acquire();
    }
  }
  [[nodiscard]] std::uint64_t answered() const { return answered_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t failed() const { return failed_.load(); }

  [[nodiscard]] int report(std::uint64_t produced) const {
    return tell_answered(answered(), failed(), produced, waits_);
  }

 private:
  static constexpr std::uint64_t wake_every = 1024;

  std::atomic<std::uint64_t> answered_{0}, failed_{0};
  std::atomic<bool> waiting_{false};
  std::binary_semaphore room_{0};
  std::uint64_t waits_ = 0;
};

/// The record with this number.
inline record numbered(const load& records, std::uint64_t i) {
  return {.topic = topic_name, .key = records.key(i), .value = records.value(i)};
}

/// Produces one record, waiting for room where there is none.
template <class Callback>
void produce_one(producer& to, const record& next, answers& counts, const Callback& callback) {
  while (to.try_produce(next, callback) == admission::full) counts.wait();
}

inline void produce_many(producer& to, const load& records, answers& counts, std::uint64_t from,
                         std::uint64_t until) {
  for (std::uint64_t i = from; i < until; ++i)
    produce_one(to, numbered(records, i), counts,
                [&counts](const outcome& answer) { counts.take(answer); });
}

}  // namespace partita::bench
