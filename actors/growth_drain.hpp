// growth = drain_first: a key that belongs to another partition since its topic grew waits until
// everything in its old partition is answered, so that it does not overtake itself (META-09).
//
// Invariants
// 1. A held record is forwarded when whatever was placed in its key's old partition before it came
//    is answered. Keys that did not move never wait.
// 2. Held records of one old partition are forwarded in order, before a later one passes.
// 3. A thread that still placed a record by the old count says so before its call returns
//    (note_late), so that no later record of the key misses it.
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
#include <vector>

namespace partita::actors {

class growth_drain {
 public:
  using answer_function = topic_route::answer_function;

  /// `after` is the table that the topic grew to. Both live as long as the route.
  growth_drain(const partition_table& before, const partition_table& after, answer_function answer,
               void* context);
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

  /// True: the record, whose key was in partition `old` before, waits here.
  [[nodiscard]] bool hold(record_node& node, partition_id old);
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
  struct place {
    std::size_t asked = 1;  // flushes of this partition that are not done; 0: drained
    std::deque<record_node*> held;
  };

  void ask(std::size_t old);
  void drained(std::size_t old) noexcept;
  [[nodiscard]] std::vector<route_barrier*> barriers_if_empty();
  template <class Wanted>
  void forward(place& from, Wanted&& wanted, std::vector<record_node*>& refused);
  void tell(const std::vector<record_node*>& refused, const std::vector<route_barrier*>& reached);

  const partition_table& before_;
  const partition_table& after_;
  const answer_function answer_;
  void* const context_;
  std::atomic<std::size_t> left_;  // places that are not drained
  std::mutex mutex_;
  std::vector<place> places_;
  std::size_t held_ = 0;
  std::vector<route_barrier*> barriers_;
  bool closed_ = false;
};

}  // namespace partita::actors
