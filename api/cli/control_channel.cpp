#include "api/cli/control_channel.hpp"

#include "api/cli/cluster_commands.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <vector>

namespace partita::cli {
namespace {

constexpr int answer_seconds_max = 10;
constexpr std::size_t answer_bytes_max = 1U << 20U;

std::error_code last_error() { return {errno, std::generic_category()}; }

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A peer that went away is seen by the next read.
void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    auto count = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) count = ::write(to, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void close_socket(int descriptor) {
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

}  // namespace

control_channel::~control_channel() {
  for (const auto& one : clients_) close_socket(one.from);
  close_socket(listening_);
}

std::error_code control_channel::listen(std::uint16_t port) {
  constexpr int backlog = 16;
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening_ < 0) return last_error();
  const int on = 1;
  ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto address = loopback(port);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_, any, size) != 0 || ::listen(listening_, backlog) != 0 ||
      ::getsockname(listening_, any, &size) != 0)
    return last_error();
  port_ = ntohs(address.sin_port);
  return {};
}

void control_channel::read_input() { clients_.push_back({STDIN_FILENO, STDOUT_FILENO, {}}); }

void control_channel::accept_client() {
  const int accepted = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0) return;
  if (clients_.size() >= clients_max) {
    ::close(accepted);
  } else {
    clients_.push_back({accepted, accepted, {}});
  }
}

// False when the client is done.
bool control_channel::read_lines(client& from) {
  std::array<char, 16 * 1024> some{};
  const auto count = ::read(from.from, some.data(), some.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  from.unread.append(some.data(), static_cast<std::size_t>(count));
  for (;;) {
    const auto end = from.unread.find('\n');
    if (end == std::string::npos) return from.unread.size() <= line_bytes_max;
    const auto line = from.unread.substr(0, end);
    from.unread.erase(0, end + 1);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    write_all(from.to, run_cluster_command(cluster_, line) + "\n");
  }
}

void control_channel::serve(int stop_descriptor) {
  for (;;) {
    std::vector<pollfd> watched{{stop_descriptor, POLLIN, 0}, {listening_, POLLIN, 0}};
    for (const auto& one : clients_) watched.push_back({one.from, POLLIN, 0});
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[0].revents != 0) return;
    std::size_t index = 2;
    for (auto at = clients_.begin(); at != clients_.end();) {
      const bool done = watched[index++].revents != 0 && !read_lines(*at);
      if (done) close_socket(at->from);
      at = done ? clients_.erase(at) : std::next(at);
    }
    if (watched[1].revents != 0) accept_client();
  }
}

std::error_code send_command(const std::string& address, std::string_view line,
                             std::string& answer) {
  const auto colon = address.rfind(':');
  const auto host = address.substr(0, colon);
  std::uint16_t port = 0;
  const auto* end = address.data() + address.size();
  const auto* first = colon == std::string::npos ? end : address.data() + colon + 1;
  auto to = loopback(0);
  if (std::from_chars(first, end, port).ptr != end || port == 0 ||
      ::inet_pton(AF_INET, host.c_str(), &to.sin_addr) != 1)
    return std::make_error_code(std::errc::invalid_argument);
  to.sin_port = htons(port);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return last_error();
  std::error_code failed;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    failed = last_error();
  } else {
    // Whatever else listens there may say nothing, or no line.
    const timeval limit{answer_seconds_max, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    write_all(socket, std::string{line} + "\n");
    answer.clear();
    for (char c = 0; !failed && c != '\n';) {
      const auto count = ::read(socket, &c, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN)
        failed = std::make_error_code(std::errc::timed_out);
      else if (count <= 0 || answer.size() > answer_bytes_max)
        failed = std::make_error_code(std::errc::connection_reset);
      else if (c != '\n')
        answer += c;
    }
  }
  ::close(socket);
  return failed;
}

}  // namespace partita::cli
