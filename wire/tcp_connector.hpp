// From a host name to a connected TCP socket: looks the name up and tries its addresses in turn.
//
// Invariants
// 1. One limit bounds the look-up and all addresses together (KIP-302, KIP-601). Each address gets
//    an equal share of what is left, so that a silent first one can not use it up (CONN-07).
// 2. The name is looked up at every attempt: addresses change (CONN-06). Only which address of a
//    name answered last is remembered; it is tried first.
// 3. The callback is called at most once, from the loop, never from inside start(), never after
//    cancel().
//
// Threads: the loop's.
#pragma once

#include "wire/name_lookup.hpp"
#include "wire/stream.hpp"
#include "wire/tcp_stream.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace partita::wire {

/// Names, and which of a name's addresses answered last. Shared by a transport and its streams.
class address_book {
 public:
  address_book(boost::asio::io_context& loop, name_lookup_options options)
      : names_(loop, std::move(options)) {}

  name_lookup& names() { return names_; }
  void remember(const std::string& name, const std::string& address);
  /// Moves the remembered address of the name, if it is still among them, to the front.
  void put_best_first(const std::string& name, std::vector<std::string>& addresses) const;

 private:
  struct entry {
    std::string name;
    std::string address;
  };
  name_lookup names_;
  std::deque<entry> answered_;  // oldest first, bounded
};

/// "127.0.0.1:9092", "[::1]:9092".
[[nodiscard]] std::string text_of(const boost::asio::ip::tcp::endpoint& endpoint);

/// Sizes of the socket's buffers; to be set before the handshake, which agrees on the window scale.
void set_buffer_sizes(boost::asio::ip::tcp::socket& socket, const tcp_options& options);

class tcp_connector : public std::enable_shared_from_this<tcp_connector> {
 public:
  using tcp = boost::asio::ip::tcp;
  /// The socket is open exactly when the failure has no code.
  using callback = std::function<void(tcp::socket socket, const stream_failure& failure)>;

  tcp_connector(boost::asio::io_context& loop, const tcp_options& options,
                std::shared_ptr<address_book> book);

  /// Once.
  void start(std::string_view host, std::uint16_t port, std::chrono::milliseconds limit,
             callback done);
  void cancel();

 private:
  using clock = std::chrono::steady_clock;

  void on_looked_up(const look_up_result& result);
  void try_next_address();
  void arm_timer();
  void on_attempt_done(const tcp::endpoint& endpoint, const boost::system::error_code& code);
  void on_attempt_failed(const boost::system::error_code& code);
  void finish(tcp::socket socket, const stream_failure& failure);

  boost::asio::io_context& loop_;
  const tcp_options options_;
  std::shared_ptr<address_book> book_;
  callback done_;  // null: not started, finished or cancelled

  std::string name_;  // host:port
  std::uint16_t port_ = 0;
  clock::time_point deadline_;
  std::unique_ptr<pending_look_up> look_up_;
  std::vector<std::string> addresses_;  // still to be tried, the next one last
  std::string address_;                 // being tried
  unsigned attempt_ = 0;                // tells a late handler that its attempt is over
  tcp::socket socket_;
  boost::asio::steady_timer timer_;
  stream_failure failure_;  // of the attempts so far
};

}  // namespace partita::wire
