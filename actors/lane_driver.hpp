// What makes a lane run: its own thread, the application's io_context, or a simulation.
//
// Invariants
// 1. run_once() is never called from two threads at a time, nor after join() returned.
// 2. After wake(), or when run_once() returned a deadline that has come, run_once() is called soon.
// 3. Between run_once() calls the driver gives I/O events their chance.
//
// Threads: wake(), runs_here() and request_end() from any thread; the rest from the runtime, one
// call at a time.
#pragma once

#include "actors/timer_wheel.hpp"

#include <memory>

namespace partita::wire {
class transport;
}

namespace partita::actors {

class lane;

class lane_driver {
 public:
  virtual ~lane_driver() = default;

  /// Begins to run `driven`, which outlives join(). Called once.
  virtual void start(lane& driven) = 0;

  /// Called when the lane becomes runnable from idle: once per idle phase, not once per command.
  virtual void wake() noexcept = 0;

  /// The calling thread is the one that runs the lane (waiting here for the lane would not end).
  [[nodiscard]] virtual bool runs_here() const noexcept = 0;

  /// Runs `work` where the lane runs, between two run_once(), and returns when it is done. On the
  /// lane's own thread it runs in place. For start and stop only; it may block.
  virtual void run_there(void (*work)(void*), void* argument) = 0;

  /// The lane runs by itself, on a thread of its own. Otherwise somebody has to run it.
  [[nodiscard]] virtual bool has_thread() const noexcept { return false; }

  /// No run_once() begins after this. Any thread; also more than once.
  virtual void request_end() noexcept = 0;
  /// After request_end(): returns when no run_once() is under way. Not on the thread of a lane that
  /// has_thread().
  virtual void join() = 0;
  /// In place of join(), on any thread: the thread of the lane keeps `alive` until it has ended.
  virtual void detach(std::shared_ptr<void> alive) { static_cast<void>(alive); }

  /// Where this lane's streams come from. Null if the driver has none (tests).
  [[nodiscard]] virtual wire::transport* transport() noexcept { return nullptr; }
};

}  // namespace partita::actors
