// The event loop of a listener, for code that serves connections and must not know Asio.
//
// Invariants
// 1. Everything runs on the thread that called run(), one thing at a time.
// 2. There is one alarm; setting it again replaces it.
//
// Threads: post() and stop() from any thread, the rest on the loop's (or before run()).
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace partita::wire {

class listener_loop {
 public:
  listener_loop();
  listener_loop(const listener_loop&) = delete;
  listener_loop& operator=(const listener_loop&) = delete;
  ~listener_loop();

  /// What listeners and their streams are made on; they must not outlive this object.
  [[nodiscard]] boost::asio::io_context& context() noexcept;

  /// Returns after stop().
  void run();
  void stop();
  void post(std::function<void()> work);
  /// Calls `ring` once at that time, or soon if it has passed.
  void set_alarm(std::chrono::steady_clock::time_point when, std::function<void()> ring);
  void cancel_alarm();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace partita::wire
