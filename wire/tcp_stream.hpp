// Streams over TCP sockets, on an Asio loop that the caller runs.
//
// A write goes straight to the kernel; only when the kernel's buffer is full does the loop wait for
// room. handed_over() means handed to the kernel, so it equals the bytes accepted.
//
// Invariants (besides those of stream.hpp)
// 1. Asynchronous operations share ownership of what they use: the stream may be destroyed at any
//    time, also inside its own events.
// 2. When a write fails, what the peer had sent before is still read and shown before on_closed():
//    an answer that arrived must not turn into doubt.
// 3. A slow owner bounds what is read: one buffer of read_bytes_max, refilled after it was shown.
//
// Threads: the loop's. The loop outlives every stream and the transport.
#pragma once

#include "wire/name_lookup.hpp"
#include "wire/stream.hpp"

#include <cstddef>
#include <memory>

namespace partita::wire {

struct tcp_options {
  bool no_delay = true;    ///< TCP_NODELAY; without it a small request waits for an acknowledgement
  bool keep_alive = true;  ///< SO_KEEPALIVE
  int send_buffer_bytes = 0;                    ///< SO_SNDBUF; 0: the system's choice
  int receive_buffer_bytes = 0;                 ///< SO_RCVBUF; 0: the system's choice
  std::size_t read_bytes_max = 64 * 1024;       ///< what one on_bytes() may show
  address_family family = address_family::any;  ///< of the addresses that names are looked up for
  bool keep_half_open = false;  ///< report on_end_of_bytes() and stay writable; for servers
  bool read_when_told = false;  ///< after bytes were shown, read again only by read_on()
};

class tcp_transport final : public transport {
 public:
  explicit tcp_transport(boost::asio::io_context& loop, tcp_options options = {},
                         name_lookup_options names = {});
  ~tcp_transport() override;

  std::unique_ptr<stream> make_stream(stream_events& events) override;
  [[nodiscard]] std::unique_ptr<pending_look_up> look_up(
      std::string host, std::function<void(const look_up_result&)> callback) override;
  /// With read_when_told: what has shown its bytes reads on. To be called before the loop waits.
  void read_on();

 private:
  struct shared;
  std::unique_ptr<shared> shared_;
};

/// Takes over a connected socket that listener accepted; `descriptor` is owned by the stream.
std::unique_ptr<stream> adopt_tcp_socket(boost::asio::io_context& loop, int descriptor,
                                         const tcp_options& options, stream_events& events);

}  // namespace partita::wire
