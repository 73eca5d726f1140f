// Records that wait because their partition holds its share of buffer.memory already
// (partita.partition.memory): one partition that can not be reached must not take the room of all
// others (HANG-17). First come first served within a partition, each at most max.block.ms; they
// hold no room meanwhile, and nobody who waits for another partition stands behind them.
//
// What a partition holds is known once a turn, so a burst between two turns can exceed the share.
//
// Invariants
// 1. A waiter hears exactly one of share_free() and share_refused(), on lane 0 or from close().
// 2. While somebody waits for a partition, open() says no for it.
//
// Threads: open(), wait() and room_again() from any; the rest on lane 0.
#pragma once

#include "actors/instant.hpp"
#include "actors/lane.hpp"

#include <partita/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace partita::actors {
class partition_actor;
}

namespace partita::detail {

class share_waiter {
 public:
  virtual ~share_waiter() = default;
  virtual void share_free() noexcept = 0;
  virtual void share_refused(client_errc code) noexcept = 0;

 private:
  friend class share_line;
  actors::instant deadline_{};
  std::uint64_t number_ = 0;
};

class share_line {
 public:
  share_line(actors::lane& home, const actors::clock_source& clock, std::uint64_t share,
             actors::duration wait_max);
  ~share_line();

  /// A record for this partition may ask for room now.
  [[nodiscard]] bool open(const actors::partition_actor& to) const;
  /// Later calls one of the waiter's members.
  void wait(const actors::partition_actor& to, share_waiter& waiter,
            std::optional<std::chrono::milliseconds> wait_max = {});
  /// True: it waits no more, and is refused as cancelled on lane 0.
  [[nodiscard]] bool withdraw(share_waiter& waiter) noexcept;
  /// The partition holds less than before.
  void room_again(const actors::partition_actor& of) noexcept;
  /// Refuses all that wait, and those that come.
  void close() noexcept;

 private:
  using line = std::deque<share_waiter*>;

  static void answer_in_order(std::vector<share_waiter*>& waiters, client_errc code) noexcept;
  void serve(const actors::partition_actor& of) noexcept;
  void watch() noexcept;
  void timer_fired() noexcept;
  [[nodiscard]] bool has_room(const actors::partition_actor& to) const noexcept;

  actors::lane& home_;
  const actors::clock_source& clock_;
  const std::uint64_t share_;
  const actors::duration wait_max_;
  std::atomic<std::size_t> waiting_{0};
  mutable std::mutex mutex_;
  std::unordered_map<const actors::partition_actor*, line> lines_;  // none is empty
  std::uint64_t next_number_ = 0;
  bool closed_ = false;
  actors::timer_node timer_;
};

}  // namespace partita::detail
