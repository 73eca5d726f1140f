// How large the batches of a topic may be, as far as its brokers' answers tell (KIP-126). Clients
// can not rely on the topic's configuration: reading it needs a right of its own.
//
// Invariants
// 1. Nothing is limited before a broker refused a batch for its size.
// 2. The limit only falls by lower(). It doubles again every five minutes: a topic's
//    max.message.bytes may have been raised, and one refusal in that time costs nothing that
//    counts.
//
// Threads: any; the partitions of a topic share it, whatever their lanes. Two refusals at a time
// may lose one of the two, which costs another refusal.
#pragma once

#include "actors/instant.hpp"

#include <atomic>
#include <cstddef>
#include <limits>

namespace partita::actors {

class fitting_size {
 public:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  static constexpr duration doubles_after = std::chrono::minutes(5);

  /// What a batch of several records may take before it is compressed.
  [[nodiscard]] std::size_t limit(instant now) const noexcept {
    const std::size_t size = limit_.load(std::memory_order_relaxed);
    if (size == unlimited) return unlimited;
    const instant since(duration(since_.load(std::memory_order_relaxed)));
    const auto doublings = now <= since ? 0 : (now - since) / doubles_after;
    return doublings >= 63 || size > (unlimited >> doublings) ? unlimited : size << doublings;
  }

  /// Something larger was refused; this may fit.
  void lower(std::size_t uncompressed, instant now) noexcept {
    if (uncompressed >= limit(now)) return;
    limit_.store(uncompressed, std::memory_order_relaxed);
    since_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  /// Sizes as they were sent.
  void refused(std::size_t sent) noexcept {
    if (sent < smallest_refused()) smallest_refused_.store(sent, std::memory_order_relaxed);
    if (sent <= largest_taken()) largest_taken_.store(0, std::memory_order_relaxed);
  }
  void taken(std::size_t sent) noexcept {
    if (sent > largest_taken()) largest_taken_.store(sent, std::memory_order_relaxed);
    if (sent >= smallest_refused()) smallest_refused_.store(unlimited, std::memory_order_relaxed);
  }

  /// As sent. The brokers' limit lies between them; 0 and `unlimited`: not known.
  [[nodiscard]] std::size_t largest_taken() const noexcept {
    return largest_taken_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t smallest_refused() const noexcept {
    return smallest_refused_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t> limit_{unlimited};
  std::atomic<duration::rep> since_{0};
  std::atomic<std::size_t> largest_taken_{0};
  std::atomic<std::size_t> smallest_refused_{unlimited};
};

}  // namespace partita::actors
