// Which partition keeps a ticket, and whether a ticket can be one of ours at all.
//
// Invariants
// 1. Tickets are never given twice within a process: the upper bits name the producer.
// 2. A ticket is listed from before its record is answered until its partition forgets it.
//
// Threads: any; one mutex, taken for records of unknown fate only.
#pragma once

#include "actors/actor_cell.hpp"

#include <partita/error.hpp>
#include <partita/outcome.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

namespace partita::actors {

class ticket_directory {
 public:
  ticket_directory()
      : prefix_(next_prefix().fetch_add(1, std::memory_order_relaxed) << number_bits),
        next_(prefix_ + 1) {}

  /// Numbers for the records of a batch; returns the first. Listed as the partition's.
  std::uint64_t give(std::size_t count, ordered_actor_handle keeper) {
    const std::uint64_t first = next_.fetch_add(count, std::memory_order_relaxed);
    std::lock_guard lock(mutex_);
    kept_.emplace(first, entry{count, keeper});
    return first;
  }
  /// Numbers that nothing can be asked with (no idempotence: nothing tells their records).
  std::uint64_t give_unlisted(std::size_t count) noexcept {
    return next_.fetch_add(count, std::memory_order_relaxed);
  }
  void forget(std::uint64_t first) {
    std::lock_guard lock(mutex_);
    kept_.erase(first);
  }

  /// Why it can not be asked for; no error if it was given here.
  [[nodiscard]] std::error_code judge(ticket which) const noexcept {
    if (which.value == 0) return client_errc::ticket_unknown;
    if ((which.value >> number_bits) != (prefix_ >> number_bits))
      return client_errc::ticket_foreign;
    const bool given = which.value > prefix_ && which.value < next_.load(std::memory_order_relaxed);
    return given ? std::error_code() : client_errc::ticket_unknown;
  }
  [[nodiscard]] std::optional<ordered_actor_handle> keeper_of(ticket which) const {
    std::lock_guard lock(mutex_);
    auto after = kept_.upper_bound(which.value);
    if (after == kept_.begin()) return std::nullopt;
    const auto& [first, found] = *std::prev(after);
    if (which.value - first >= found.count) return std::nullopt;
    return found.keeper;
  }

 private:
  static constexpr int number_bits = 40;

  struct entry {
    std::size_t count;
    ordered_actor_handle keeper;
  };

  static std::atomic<std::uint64_t>& next_prefix() noexcept {
    static std::atomic<std::uint64_t> next{0};
    return next;
  }

  const std::uint64_t prefix_;
  std::atomic<std::uint64_t> next_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, entry> kept_;
};

}  // namespace partita::actors
