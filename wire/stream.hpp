// A byte stream to one peer, callback style, and the transport that makes streams. The TCP socket,
// TLS over it and the links of the simulated cluster are all used through these two interfaces.
//
// Invariants
// 1. Events come from the stream's loop, never from inside a call into the stream: a caller that
//    writes or closes is not re-entered.
// 2. A stream borrows the bytes of write() for the length of the call only, so their owner alone
//    decides how long they live (L7).
// 3. handed_over() counts bytes of write() that have left the process or may have. A frame of which
//    one byte lies behind it is provably incomplete at the peer, provided that the stream is closed
//    without another write (kafka-semantics.md 2.2). It rises before on_bytes() can show an answer
//    to those bytes.
// 4. close() and the destructor end all events, also those already on their way. Either may be
//    called from within an event of the same stream.
//
// Threads: everything on the one thread that runs the stream's loop.
#pragma once

#include <partita/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace partita::wire {

/// Why a connection could not be made, or ended.
struct stream_failure {
  std::error_code code;   ///< a client_errc: what it means to us
  std::error_code cause;  ///< what the system said, if it said something
  std::string text;       ///< for people: address, step, system message
};

/// What a stream tells its owner. The owner outlives the stream, or closes it first.
class stream_events {
 public:
  /// Once per successful connect(); bytes may be written from now on.
  virtual void on_connected() = 0;
  /// Once per failed connect(), after every address was tried or the limit passed. Nothing follows.
  virtual void on_connect_failed(const stream_failure& failure) = 0;
  /// The bytes live for the length of the call.
  virtual void on_bytes(std::span<const std::byte> bytes) = 0;
  /// Once per want_writable(): write() may accept bytes again, or handed_over() has risen.
  virtual void on_writable() = 0;
  /// The peer sends no more but may still read. Only from streams that were asked to tell it
  /// (tcp_options::keep_half_open); others report on_closed() at once.
  virtual void on_end_of_bytes() {}
  /// The connection is gone. Everything readable was shown before, unless reading was stopped.
  /// Nothing follows.
  virtual void on_closed(const stream_failure& failure) = 0;

 protected:
  stream_events() = default;
  stream_events(const stream_events&) = default;
  stream_events& operator=(const stream_events&) = default;
  ~stream_events() = default;
};

enum class close_how : std::uint8_t {
  orderly,  ///< FIN after what was written; a kernel resets if bytes of the peer lie unread
  reset,    ///< RST: what was written may be lost
};

/// One connection, used once: connect, exchange, close.
class stream {
 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  virtual ~stream() = default;  ///< closes in order

  /// Looks the host up and tries its addresses in turn; `limit` bounds all of it (KIP-302,
  /// KIP-601).
  virtual void connect(std::string_view host, std::uint16_t port,
                       std::chrono::milliseconds limit) = 0;

  /// Hands bytes on without blocking and returns how many were accepted, counted over all pieces.
  /// Fewer than offered: call want_writable() and go on after on_writable(). A stream that is not
  /// connected, or no longer, accepts nothing; a break is reported by on_closed().
  virtual std::size_t write(std::span<const std::span<const std::byte>> pieces) = 0;

  /// Bytes since the start of the stream, see invariant 3; also valid, and final, after close().
  /// With TLS it lags behind the bytes accepted until their record is flushed.
  [[nodiscard]] virtual std::uint64_t handed_over() const = 0;

  /// Asks for one on_writable(). Asking twice before it came is asking once.
  virtual void want_writable() = 0;

  /// Stops and resumes reading, so that a slow reader's memory stays bounded. While stopped, the
  /// end of the connection may go unnoticed until the next write. Reading is on at the start.
  virtual void set_reading(bool on) = 0;

  /// Ends the connection and all events. Bytes accepted but not handed over are dropped.
  virtual void close(close_how how = close_how::orderly) = 0;

  /// The peer's numeric address and port ("127.0.0.1:9092"), "" while not connected.
  [[nodiscard]] virtual std::string peer_address() const = 0;
};

/// The addresses of a name, or why there are none.
struct look_up_result {
  std::vector<std::string> addresses;  ///< numeric; each may be handed to stream::connect()
  stream_failure failure;              ///< set when there are no addresses
};

/// Keeps a look-up alive: its callback is never called after this was destroyed.
class pending_look_up {
 public:
  pending_look_up() = default;
  pending_look_up(const pending_look_up&) = delete;
  pending_look_up& operator=(const pending_look_up&) = delete;
  virtual ~pending_look_up() = default;
};

/// Makes connections; injected, so that a simulation can put its own in place of the network.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// `events` outlives the stream. The stream must not outlive the loop it was made for.
  virtual std::unique_ptr<stream> make_stream(stream_events& events) = 0;

  /// Calls back once, from the loop, never from inside this call.
  [[nodiscard]] virtual std::unique_ptr<pending_look_up> look_up(
      std::string host, std::function<void(const look_up_result&)> callback) = 0;
};

}  // namespace partita::wire
