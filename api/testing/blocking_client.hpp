// A Kafka connection on a plain blocking socket: one request, one answer.
//
// Invariants
// 1. Every wait ends by the time limit given at the start.
// 2. An answer under another correlation id, or longer than its limit, ends the connection.
//
// Threads: one.
#pragma once

#include "wire/frame.hpp"

#include <partita/testing/log_reader.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace partita::testing {

class blocking_client {
 public:
  explicit blocking_client(std::chrono::milliseconds limit) : limit_(limit) {}
  blocking_client(const blocking_client&) = delete;
  blocking_client& operator=(const blocking_client&) = delete;
  ~blocking_client() { disconnect(); }

  read_end connect(const std::string& host, std::uint16_t port);
  void disconnect() noexcept;

  /// `storage` owns what the answer's views refer to.
  template <class Request>
  read_end call(const Request& request, std::int16_t version,
                typename Request::response_type& answer, std::vector<std::byte>& storage) {
    const auto frame = wire::encode_request(request, version, ++correlation_id_, "partita-log");
    if (frame.error) return {frame.error, frame.reason};
    if (auto end = send(frame.frame.flatten()); !end.ok()) return end;
    if (auto end = receive(storage, wire::answer_limit(Request::key)); !end.ok()) return end;
    auto decoded = wire::decode_response<typename Request::response_type>(
        version, std::span<const std::byte>{storage}.subspan(4));
    if (!decoded.ok())
      return {decoded.failure.code, decoded.failure.describe(wire::name_of(Request::key), version)};
    answer = std::move(decoded.value);
    return {};
  }

 private:
  read_end send(const std::vector<std::byte>& bytes);
  read_end receive(std::vector<std::byte>& storage, std::size_t limit);
  read_end receive_exactly(std::span<std::byte> into);
  read_end try_address(const void* address);
  read_end broken(const char* what);
  [[nodiscard]] read_end about_peer(read_end end) const;

  std::chrono::milliseconds limit_;
  std::string peer_;  // as people write it
  int socket_ = -1;
  std::int32_t correlation_id_ = 0;
};

}  // namespace partita::testing
