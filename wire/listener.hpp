// Accepts TCP connections for the simulated broker and for tests; loopback unless told otherwise.
//
// Invariants
// 1. An accepted socket that nobody opens is closed with its accepted_socket.
// 2. close() and the destructor end all events; streams already opened live on.
// 3. Running out of descriptors pauses accepting for a moment instead of spinning.
//
// Threads: the loop's. The loop outlives the listener and its streams.
#pragma once

#include "wire/stream.hpp"
#include "wire/tcp_stream.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace partita::wire {

struct listener_options {
  std::string address = "127.0.0.1";  ///< numeric
  std::uint16_t port = 0;             ///< 0: the system chooses, see listener::port()
  int backlog = 128;
  tcp_options stream_options;  ///< for the accepted streams
};

/// A connection that was accepted but has no owner yet.
class accepted_socket {
 public:
  accepted_socket(boost::asio::io_context& loop, int descriptor, const tcp_options& options);
  accepted_socket(accepted_socket&& other) noexcept;
  accepted_socket& operator=(accepted_socket&&) = delete;
  ~accepted_socket();

  /// A connected stream; no on_connected(), its first event is on_bytes() or on_closed(), from the
  /// loop. Once.
  [[nodiscard]] std::unique_ptr<stream> open(stream_events& events) &&;

 private:
  boost::asio::io_context& loop_;
  int descriptor_;  // -1: opened or moved from
  tcp_options options_;
};

class listener_events {
 public:
  virtual void on_accepted(accepted_socket socket) = 0;

 protected:
  listener_events() = default;
  listener_events(const listener_events&) = default;
  listener_events& operator=(const listener_events&) = default;
  ~listener_events() = default;
};

class listener {
 public:
  listener(boost::asio::io_context& loop, listener_events& events);
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

  /// Binds and begins to accept. A failure is returned at once and leaves the listener closed.
  [[nodiscard]] stream_failure open(const listener_options& options = {});
  void close();

  /// The bound port, 0 while closed.
  [[nodiscard]] std::uint16_t port() const;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

}  // namespace partita::wire
