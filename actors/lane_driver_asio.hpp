// Lanes on Asio loops: a thread of our own, or the application's io_context.
//
// A wake-up is one post (one eventfd write when the loop sleeps). The deadline of the lane is one
// timer that is moved forward lazily: moving a deadline away costs at most one early wake-up.
//
// Invariants
// 1. A lane that is idle and has no timers causes no wake-ups at all.
// 2. Handlers of ours that are still queued in the application's loop after stop() do nothing.
//
// Threads: see lane_driver.hpp. The application's io_context must be run by at most one thread at a
// time, and must outlive the runtime.
#pragma once

#include "actors/lane_driver.hpp"

#include <memory>

namespace boost::asio {
class io_context;
}

namespace partita::wire {
struct tcp_options;
}

namespace partita::actors {

/// A thread of its own, named "partita-lane".
[[nodiscard]] std::unique_ptr<lane_driver> make_thread_driver();
[[nodiscard]] std::unique_ptr<lane_driver> make_thread_driver(const wire::tcp_options& sockets);

/// The application's loop; no thread is made. `run_there()` on a thread that does not run the loop
/// waits for the loop to take the work. When the loop is stopped (run() has returned), or nobody
/// runs it within a second, the caller does the work: so a producer can be closed after run().
[[nodiscard]] std::unique_ptr<lane_driver> make_loop_driver(boost::asio::io_context& loop);
[[nodiscard]] std::unique_ptr<lane_driver> make_loop_driver(boost::asio::io_context& loop,
                                                            const wire::tcp_options& sockets);

}  // namespace partita::actors
