#include "chaos/frame_sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace partita::chaos {
namespace {

constexpr std::size_t frame_bytes_max = 128 * 1024 * 1024;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool read_all(int from, std::byte* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(from, into, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// Prefix and frame in one piece.
std::vector<std::byte> framed(std::span<const std::byte> frame) {
  std::vector<std::byte> whole;
  whole.reserve(4 + frame.size());
  for (const int shift : {24, 16, 8, 0})
    whole.push_back(static_cast<std::byte>(frame.size() >> static_cast<unsigned>(shift)));
  whole.insert(whole.end(), frame.begin(), frame.end());
  return whole;
}

}  // namespace

int listen_on(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(made, 64) != 0) {
    ::close(made);
    return -1;
  }
  return made;
}

int connect_to(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(made);
    return -1;
  }
  send_at_once(made);
  return made;
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::uint16_t local_port(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool write_all(int to, std::span<const std::byte> what) {
  while (!what.empty()) {
    const ssize_t sent = ::send(to, what.data(), what.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    what = what.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool read_frame(int from, std::vector<std::byte>& into) {
  std::array<std::byte, 4> prefix{};
  if (!read_all(from, prefix.data(), prefix.size())) return false;
  std::size_t size = 0;
  for (const std::byte each : prefix) size = size << 8U | std::to_integer<std::size_t>(each);
  if (size > frame_bytes_max) return false;
  into.resize(size);
  return read_all(from, into.data(), size);
}

bool write_frame(int to, std::span<const std::byte> frame) { return write_all(to, framed(frame)); }

bool write_torn_frame(int to, std::span<const std::byte> frame) {
  std::vector<std::byte> torn = framed(frame);
  torn.pop_back();
  return write_all(to, torn);
}

}  // namespace partita::chaos
