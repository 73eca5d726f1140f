// A producer's lanes and its private actor system: start, spawn, stop.
//
// CAF and Asio are hidden: this header is cheap.
//
// Invariants
// 1. There are no threads but those of the lanes: none at all when the application's io_context is
//    the only lane.
// 2. Start: lanes, actor system. Stop: every actor told to stop, lanes emptied, drivers stopped,
//    system destroyed. After stop() no code of ours runs.
// 3. The runtime holds a strong reference to every actor it spawned until it ends: no actor is
//    destroyed because nobody talks to it. Handles stay valid until then.
//
// Threads: construct, stop and destroy on any thread. On a lane's own thread (a callback that
// destroys the producer): with own threads the rest of the stop is handed over to the lane threads,
// which finish it when they have left the callback. With the application's io_context the runtime
// must not be destroyed from inside a record's callback (a contract; it is found and refused), but
// may be from any other handler. spawn() from any thread.
#pragma once

#include "actors/actor_cell.hpp"
#include "actors/environment.hpp"
#include "actors/lane.hpp"
#include "actors/lane_driver.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace partita::actors {

class runtime_state;

struct runtime_options {
  environment surroundings{};
  std::size_t lanes = 1;
  turn_limits turn{};
  bool shuffle = false;  ///< see lane_options
  /// False: actors have no CAF shell, and there is no actor system: for simulations, which start
  /// thousands of runtimes.
  bool with_caf = true;
  /// Empty: each lane gets a thread of its own (make_thread_driver). Otherwise one per lane.
  std::vector<std::unique_ptr<lane_driver>> drivers{};
  exception_hook on_exception = nullptr;
  void* exception_context = nullptr;
};

class runtime {
 public:
  explicit runtime(runtime_options options);
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  [[nodiscard]] std::size_t lane_count() const noexcept;
  [[nodiscard]] lane& lane_at(std::size_t index) noexcept;

  /// Starts an actor on `home`. Not after stop().
  ordered_actor_handle spawn(std::unique_ptr<actor_body> body, lane& home);

  /// The caller runs on a lane that the end would have to wait for.
  [[nodiscard]] bool would_wait_for_itself() const noexcept;

  /// Stops everything, once; later calls do nothing.
  void stop() noexcept;

 private:
  std::shared_ptr<runtime_state> state_;
};

}  // namespace partita::actors
