#include "api/testing/blocking_client.hpp"

#include "wire/peer_name.hpp"
#include "wire/peer_sniff.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace partita::testing {

read_end blocking_client::broken(const char* what) {
  const auto number = errno;
  const std::error_code cause{number, std::generic_category()};
  disconnect();
  const bool late = number == EAGAIN || number == EWOULDBLOCK || number == EINPROGRESS;
  return {late ? client_errc::request_timeout : client_errc::connection_closed,
          std::string{what} + ": " +
              (late ? "no progress within " + std::to_string(limit_.count()) + " ms"
                    : cause.message())};
}

read_end blocking_client::try_address(const void* address) {
  const auto& info = *static_cast<const addrinfo*>(address);
  socket_ = ::socket(info.ai_family, info.ai_socktype | SOCK_CLOEXEC, info.ai_protocol);
  if (socket_ < 0) return broken("socket");
  // The limits of send and receive also bound connect on Linux.
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(limit_.count() / 1000);
  limit.tv_usec = static_cast<suseconds_t>(limit_.count() % 1000 * 1000);
  const int on = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket_, info.ai_addr, info.ai_addrlen) == 0) return {};
  const bool refused = errno == ECONNREFUSED;
  auto end = broken("connect");
  if (refused) end.error = client_errc::connection_refused;
  return end;
}

read_end blocking_client::connect(const std::string& host, std::uint16_t port) {
  disconnect();
  peer_ = wire::peer_name(host, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return {client_errc::host_not_found, host + ": " + ::gai_strerror(failed)};
  read_end end{client_errc::host_not_found, host};
  for (const auto* one = found; one != nullptr; one = one->ai_next) {
    end = try_address(one);
    if (end.ok()) break;
  }
  ::freeaddrinfo(found);
  return end.ok() ? end : about_peer(std::move(end));
}

/// Where nothing was ever answered, the peer may be something else.
read_end blocking_client::about_peer(read_end end) const {
  const bool silent =
      end.error == client_errc::connection_closed || end.error == client_errc::request_timeout;
  if (silent && correlation_id_ == 1) end.text += " (not a Kafka broker, or it wants TLS?)";
  end.text = peer_ + ": " + end.text;
  return end;
}

void blocking_client::disconnect() noexcept {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

read_end blocking_client::send(const std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto count = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return broken("send");
    at += static_cast<std::size_t>(count);
  }
  return {};
}

read_end blocking_client::receive_exactly(std::span<std::byte> into) {
  while (!into.empty()) {
    const auto count = ::recv(socket_, into.data(), into.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) {
      disconnect();
      return {client_errc::connection_closed, "the connection was closed without an answer"};
    }
    if (count < 0) return broken("receive");
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

read_end blocking_client::receive(std::vector<std::byte>& storage, std::size_t limit) {
  std::array<std::byte, 4> head{};
  if (auto end = receive_exactly(head); !end.ok()) return about_peer(std::move(end));
  if (const auto other = wire::sniff_peer(head)) {
    disconnect();
    return about_peer({other, other.message()});
  }
  std::uint32_t length = 0;
  for (const auto byte : head) length = length << 8 | std::to_integer<std::uint32_t>(byte);
  if (length < 4 || length > limit) {
    disconnect();
    return {client_errc::answer_too_large, "an answer of " + std::to_string(length) + " bytes"};
  }
  storage.resize(length);
  if (auto end = receive_exactly(storage); !end.ok()) return end;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8 | std::to_integer<std::uint32_t>(storage[i]);
  if (static_cast<std::int32_t>(id) == correlation_id_) return {};
  disconnect();
  return {client_errc::correlation_mismatch, "an answer to another request"};
}

}  // namespace partita::testing
