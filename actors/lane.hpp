// A lane: the queue of runnable actors, the timers and the buffers of one thread.
//
// It knows neither threads nor Asio: a lane_driver calls run_once() and is told when to wake.
//
// Invariants
// 1. A runnable is in at most one run queue, and run by one lane at a time.
// 2. run_once() is bounded (turns, and commands and bytes within a turn); what is left keeps its
//    place and is reported by a deadline of "now".
// 3. An idle lane without timers is never called: wake() comes from the push that ends the
// idleness.
//
// Threads: schedule() and post() from any thread; everything else on the lane.
#pragma once

#include "actors/environment.hpp"
#include "actors/inbox.hpp"
#include "actors/lane_driver.hpp"
#include "actors/timer_wheel.hpp"
#include "wire/segments.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace partita::actors {

class lane;

/// The bound of one turn of one runnable.
struct turn_limits {
  std::uint32_t commands = 512;
  std::uint64_t bytes = 1U << 20U;
};

enum class turn_result : std::uint8_t {
  idle,   ///< it will be scheduled again by whoever gives it work; do not touch it any more
  again,  ///< it has more to do: behind the others
};

/// Something that a lane runs.
class runnable {
 public:
  runnable* next = nullptr;  ///< the run queue's

  /// Called on `here`. After `idle` the lane touches the object no more: it may be gone.
  virtual turn_result run(lane& here, const turn_limits& limits) noexcept = 0;
  /// In place of run(): the lane ends with this still in its queue.
  virtual void abandon() noexcept {}

 protected:
  ~runnable() = default;
};

struct lane_options {
  const clock_source* clock = &system_clocks();
  std::uint64_t seed = 1;
  std::uint32_t index = 0;  ///< of the producer's lanes
  turn_limits turn{};
  std::uint32_t turns_per_run = 64;  ///< then I/O gets its chance
  std::uint32_t timers_per_run = 4096;
  std::size_t free_segments_max = 256;  ///< blocks kept for reuse
  /// For simulations: shuffles the runnable actors by the lane's random source, so that a seed
  /// names an interleaving.
  bool shuffle = false;
};

class lane {
 public:
  lane(lane_driver& driver, const lane_options& options);
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  ~lane();

  /// The lane that this thread runs, or null. Waiting for a lane's work is refused where it is not
  /// null, or where runs_here() (the application's own handlers on a shared loop).
  static lane* current() noexcept { return current_; }
  /// The calling thread runs this lane, inside run_once() or in an I/O event between two.
  [[nodiscard]] bool runs_here() const noexcept { return current_ == this || driver_.runs_here(); }

  /// For a driver whose thread runs nothing else.
  static void bind_thread(lane* to) noexcept { current_ = to; }

  /// Queues a runnable that is in no queue. Any thread.
  void schedule(runnable& work) noexcept;
  /// Runs `task()` once on the lane. Any thread. Allocates one node.
  template <class Task>
  void post(Task task);

  /// One bounded round. Returns when it wants to be called next: now or earlier means "at once",
  /// `never` means "after wake()".
  instant run_once() noexcept;

  /// Runs until there is nothing to do now, or `rounds` are over. True if it went idle.
  bool run_until_idle(std::size_t rounds = SIZE_MAX) noexcept;

  /// The time of this iteration; in an I/O event between two, of the last refresh_now().
  [[nodiscard]] instant now() const noexcept { return now_; }
  /// Reads the clock. An I/O event that works with time calls it first.
  instant refresh_now() noexcept { return now_ = clock_.now(); }
  [[nodiscard]] timestamp wall_now() const noexcept { return clock_.wall_now(); }

  /// Arms or re-arms a timer of this lane.
  void arm(timer_node& timer, instant deadline) noexcept;
  void cancel(timer_node& timer) noexcept { wheel_.cancel(timer); }
  [[nodiscard]] std::size_t timers() const noexcept { return wheel_.size(); }

  [[nodiscard]] wire::segment_pool& segments() noexcept { return segments_; }
  [[nodiscard]] random_source& random() noexcept { return random_; }
  [[nodiscard]] lane_driver& driver() noexcept { return driver_; }
  /// Null where the driver has none.
  [[nodiscard]] wire::transport* transport() noexcept { return driver_.transport(); }
  [[nodiscard]] std::uint32_t index() const noexcept { return options_.index; }
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

 private:
  runnable* next_runnable() noexcept;
  void take_incoming() noexcept;

  static thread_local constinit lane* current_;

  lane_driver& driver_;
  const lane_options options_;
  const clock_source& clock_;
  random_source random_;
  instant now_;
  instant announced_ = instant::min();  // what the last run_once() returned
  bool running_ = false;
  std::uint64_t rounds_ = 0;
  node_list<runnable> local_;
  mpsc_inbox<runnable> incoming_;
  timer_wheel wheel_;
  wire::segment_pool segments_;
};

template <class Task>
void lane::post(Task task) {
  struct node final : runnable {
    explicit node(Task&& work) : work_(std::move(work)) {}
    turn_result run(lane&, const turn_limits&) noexcept override {
      work_();
      delete this;
      return turn_result::idle;
    }
    void abandon() noexcept override { delete this; }
    Task work_;
  };
  schedule(*new node(std::move(task)));
}

}  // namespace partita::actors
