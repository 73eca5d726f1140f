// What tests of streams share: an owner that remembers all events, and plain sockets beside it.
//
// Threads: the test's.
#pragma once

#include "wire/stream.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace partita::testing {

struct stream_recorder final : wire::stream_events {
  int connected = 0;
  std::optional<wire::stream_failure> connect_failed;
  std::string text;  // all bytes
  int writable = 0;
  int ends_of_bytes = 0;
  std::optional<wire::stream_failure> closed;
  int events = 0;
  bool inside_call = false;  // set by a test around calls into the stream
  std::function<void()> react;

  void on_connected() override {
    ++connected;
    note();
  }
  void on_connect_failed(const wire::stream_failure& failure) override {
    EXPECT_FALSE(connect_failed);
    connect_failed = failure;
    note();
  }
  void on_bytes(std::span<const std::byte> bytes) override {
    EXPECT_FALSE(bytes.empty());
    EXPECT_FALSE(closed);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    note();
  }
  void on_writable() override {
    ++writable;
    note();
  }
  void on_end_of_bytes() override {
    ++ends_of_bytes;
    note();
  }
  void on_closed(const wire::stream_failure& failure) override {
    EXPECT_FALSE(closed);
    closed = failure;
    note();
  }

 private:
  void note() {
    ++events;
    EXPECT_FALSE(inside_call) << "an event came from inside a call";
    if (react) react();
  }
};

inline std::size_t write_text(wire::stream& to, std::string_view text) {
  const std::array pieces{std::as_bytes(std::span(text.data(), text.size()))};
  return to.write(pieces);
}

inline sockaddr_in loopback_address(std::uint16_t port, const char* address = "127.0.0.1") {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &result.sin_addr);
  return result;
}

/// A plain connected socket, -1 on failure.
inline int connect_blocking(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback_address(port);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

}  // namespace partita::testing
