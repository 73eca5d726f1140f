// Records that wait because their partition holds its share of buffer.memory already
// (partita.partition.memory): one partition that can not be reached must not take the room of all
// others (HANG-17). First come first served, each at most max.block.ms; they hold no room
// meanwhile, and nobody who waits for another partition stands behind them. Who may go to any
// partition of a topic stands in the line of each.
//
// What is pushed to a partition counts at once, so only threads that produce at the same time can
// exceed the share, by a record each.
//
// Invariants
// 1. A waiter hears exactly one of share_free() and share_refused(), on lane 0 or from close().
// 2. While somebody waits for a partition, open() says no for it, and goes on to do so until he who
//    was let in, or failed, is in the partition's queue or in the line for buffer.memory (L5, L6).
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
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace partita::actors {
class partition_actor;
struct partition_table;
}  // namespace partita::actors

namespace partita::detail {

class share_waiter;

/// Those who wait for one partition, or for any of a topic.
struct share_queue {
  const actors::partition_actor* of = nullptr;  ///< null: for any of the topic
  std::string_view topic{};                     ///< then
  std::deque<share_waiter*> waiters{};
  std::size_t leaving = 0;  ///< taken out, and not yet where they go
};

class share_waiter {
 public:
  virtual ~share_waiter() = default;
  /// `at` has room for it. When this returns it is in its partition's queue or waits elsewhere.
  virtual void share_free(const actors::partition_actor& at) noexcept = 0;
  virtual void share_refused(client_errc code) noexcept = 0;

 private:
  friend class share_line;
  actors::instant deadline_{};
  std::uint64_t number_ = 0;
  std::vector<share_queue*> stands_in_;  // none: it does not wait
};

class share_line {
 public:
  using limit = std::optional<std::chrono::milliseconds>;

  share_line(actors::lane& home, const actors::clock_source& clock, std::uint64_t share,
             actors::duration wait_max);
  ~share_line();

  /// A record for this partition may ask for room now.
  [[nodiscard]] bool open(const actors::partition_actor& to) const;
  /// Later calls one of the waiter's members.
  void wait(const actors::partition_actor& to, share_waiter& waiter, limit wait_max = {});
  /// The same, for the first of these partitions that has room.
  void wait_anywhere(const actors::partition_table& among, share_waiter& waiter,
                     limit wait_max = {});
  /// The same, until each of them has room and nobody stands before it in any of their lines.
  void wait_for_all(std::vector<const actors::partition_actor*> all, share_waiter& waiter,
                    limit wait_max = {});
  /// Somebody waits, for whatever. A glance: it may change at any moment.
  [[nodiscard]] bool awaited() const noexcept {
    return waiting_.load(std::memory_order_acquire) != 0;
  }
  [[nodiscard]] bool has_waiters(const actors::partition_actor& to) const;
  /// True: it waits no more, and is refused as cancelled on lane 0.
  [[nodiscard]] bool withdraw(share_waiter& waiter) noexcept;
  /// The partition holds less than before.
  void room_again(const actors::partition_actor& of) noexcept;
  /// Refuses all that wait, and those that come.
  void close() noexcept;

 private:
  using partitions = std::vector<const actors::partition_actor*>;

  static void sort_by_number(std::vector<share_waiter*>& waiters) noexcept;
  void line_up(share_waiter& waiter, partitions at, const std::string* anywhere_in, limit wait_max);
  [[nodiscard]] bool has_room(const actors::partition_actor& to) const noexcept;
  [[nodiscard]] share_waiter* next_for(const actors::partition_actor& of) const;
  [[nodiscard]] bool may_go(const share_waiter& waiter, const actors::partition_actor& to) const;
  void serve(const actors::partition_actor& of) noexcept;
  void serve_later(partitions which) noexcept;
  void arrived(const std::vector<share_queue*>& left, std::size_t waiters) noexcept;
  void drop_if_idle(const share_queue& queue);
  template <class Visit>
  void visit_queues(Visit&& visit);
  void watch() noexcept;
  void timer_fired() noexcept;

  actors::lane& home_;
  const actors::clock_source& clock_;
  const std::uint64_t share_;
  const actors::duration wait_max_;
  std::atomic<std::size_t> waiting_{0};  // with those that are leaving
  mutable std::mutex mutex_;
  std::unordered_map<const actors::partition_actor*, share_queue> lines_;
  std::unordered_map<std::string, share_queue> anywhere_;  // by topic
  std::uint64_t next_number_ = 0;
  bool closed_ = false;
  actors::timer_node timer_;
};

}  // namespace partita::detail
