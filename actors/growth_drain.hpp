// growth = drain_first: a key that belongs to another partition since its topic grew waits until
// everything in its old partition is answered, so that it does not overtake itself (META-09).
//
// Invariants
// 1. A held record is forwarded when whatever was placed in its key's old partition before it came
//    is answered. Keys that did not move never wait.
// 2. Held records of one old partition are forwarded in order, before a later one passes, also one
//    that names the partition of a held record of its key.
// 3. A thread that still placed a record by the old count says so before its call returns
//    (note_late), so that no later record of the key misses it.
// 4. A held record can be cancelled, and is aborted with its partition, as if it were there.
//
// Threads: any; one mutex. User code runs outside it.
#pragma once

#include "actors/instant.hpp"
#include "actors/record_node.hpp"
#include "actors/topic_routes.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace partita::actors {

class growth_drain {
 public:
  using answer_function = topic_route::answer_function;

  /// `after` is the table that `route` grew to. Both live as long as the route.
  growth_drain(topic_route& route, const partition_table& before, const partition_table& after,
               answer_function answer, void* context);
  growth_drain(const growth_drain&) = delete;
  growth_drain& operator=(const growth_drain&) = delete;
  ~growth_drain();

  /// After the new table was published: asks the old partitions.
  void start();
  [[nodiscard]] bool finished() const noexcept {
    return left_.load(std::memory_order_acquire) == 0;
  }
  [[nodiscard]] std::int32_t count_before() const noexcept {
    return static_cast<std::int32_t>(places_.size());
  }

  /// True: the record, whose key was in partition `old` before, waits here. One that named its
  /// partition does so only behind one of its key for the same partition.
  [[nodiscard]] bool hold(record_node& node, partition_id old, bool named);
  /// Takes a cancelled record out; null: it is not here. A barrier hears of it at the next look.
  [[nodiscard]] record_node* withdraw(const tracked_record& who);
  /// Calls `pause`, which is to queue the pause and no more, then forwards what is held for the
  /// partition, to be answered there as aborted.
  void abort(partition_id to, const std::function<void()>& pause);
  /// A record was placed in `old` by the old count after the growth.
  void note_late(partition_id old);
  /// Before start(): so many will still be placed there by the old count.
  void expect(partition_id old, std::size_t records);
  /// One of them was.
  void has_arrived(partition_id old);
  /// Forwards what is past its deadline: its partition fails it there, like any other record.
  void forward_expired(instant now, duration delivery_timeout);
  /// False if nothing is held. Else the barrier is reached when nothing is.
  [[nodiscard]] bool wait(route_barrier& barrier);
  /// Answers what is held; nothing is held any more from here on. `look` sees each record before.
  void close(const failed& with, const std::function<void(const record_node&)>& look);

 private:
  class reply;
  struct held_record {
    record_node* node;
    std::uint64_t number;
  };
  struct place {
    std::size_t asked = 1;  // flushes of this partition that are not done; 0: drained
    std::deque<held_record> held;
    std::unordered_map<std::uint64_t, std::size_t> bound;  // how many of a key for a partition

    void let_go(const record_node& node);
  };
  struct waiting_barrier {
    route_barrier* barrier;
    std::uint64_t number;  // of the first record behind it
  };

  void ask(std::size_t old);
  void drained(std::size_t old) noexcept;
  [[nodiscard]] std::vector<route_barrier*> barriers_if_empty();
  template <class Wanted>
  void forward(place& from, Wanted&& wanted, std::vector<record_node*>& refused);
  void count_failure(std::uint64_t number) noexcept;
  void tell(const std::vector<record_node*>& refused, const std::vector<route_barrier*>& reached);

  topic_route& route_;
  const partition_table& before_;
  const partition_table& after_;
  const answer_function answer_;
  void* const context_;
  std::atomic<std::size_t> left_;  // places that are not drained
  std::mutex mutex_;
  std::vector<place> places_;
  std::size_t held_ = 0;
  std::uint64_t next_number_ = 0;
  std::vector<waiting_barrier> barriers_;
  bool closed_ = false;
};

}  // namespace partita::actors
