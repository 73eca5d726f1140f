#include "wire/peer_sniff.hpp"

#include <partita/error.hpp>

#include <string_view>

namespace partita::wire {
namespace {

bool begins_with(std::span<const std::byte> bytes, std::string_view prefix) noexcept {
  if (bytes.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>(prefix[i])) return false;
  }
  return true;
}

// An alert (0x15) is what a TLS server says to plain bytes, a handshake (0x16) what a TLS client
// begins with; then the record version 3.0 to 3.4.
bool is_tls_record(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 3 && (bytes[0] == std::byte{0x15} || bytes[0] == std::byte{0x16}) &&
         bytes[1] == std::byte{0x03} && bytes[2] <= std::byte{0x04};
}

}  // namespace

std::error_code sniff_peer(std::span<const std::byte> first_bytes) noexcept {
  if (begins_with(first_bytes, "HTTP")) return client_errc::not_kafka_http;
  // Answers of HTTP/0.9 style: a proxy's error page without a status line.
  if (begins_with(first_bytes, "<htm") || begins_with(first_bytes, "<HTM") ||
      begins_with(first_bytes, "<!DO") || begins_with(first_bytes, "<!do")) {
    return client_errc::not_kafka_http;
  }
  if (begins_with(first_bytes, "SSH-")) return client_errc::not_kafka_ssh;
  if (is_tls_record(first_bytes)) return client_errc::not_kafka_tls;
  return {};
}

}  // namespace partita::wire
