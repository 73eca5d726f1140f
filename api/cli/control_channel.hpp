// The control of `partita cluster` over a loopback socket or the program's own input: commands as
// lines in, answers as lines out.
//
// Invariants
// 1. Answers come in the order of the commands, one for each.
// 2. A line beyond line_bytes_max ends its connection.
// 3. Connections are served in turn by one thread, at most clients_max; the end of one changes
//    nothing.
//
// Threads: one.
#pragma once

#include <partita/testing/cluster.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <system_error>

namespace partita::cli {

class control_channel {
 public:
  static constexpr std::size_t line_bytes_max = 1024 * 1024;
  static constexpr std::size_t clients_max = 64;

  explicit control_channel(testing::cluster& cluster) : cluster_(cluster) {}
  control_channel(const control_channel&) = delete;
  control_channel& operator=(const control_channel&) = delete;
  ~control_channel();

  /// Listens on 127.0.0.1; 0 takes a free port.
  std::error_code listen(std::uint16_t port);
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Commands from standard input as well, answers to standard output.
  void read_input();

  /// Until `stop_descriptor` is readable.
  void serve(int stop_descriptor);

 private:
  struct client {
    int from;
    int to;
    std::string unread;
  };
  bool read_lines(client& from);
  void accept_client();

  testing::cluster& cluster_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::list<client> clients_;
};

/// Sends one line to the control channel at "HOST:PORT", an IPv4 address, and waits for its answer.
[[nodiscard]] std::error_code send_command(const std::string& address, std::string_view line,
                                           std::string& answer);

}  // namespace partita::cli
