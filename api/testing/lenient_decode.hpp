// Decodes requests as a broker does: bytes behind the body are ignored, a body cut short is
// refused.
//
// Threads: pure functions.
#pragma once

#include "wire/frame.hpp"

#include <optional>

namespace partita::testing {

template <class Request>
std::optional<Request> decode_leniently(std::int16_t version, std::span<const std::byte> body) {
  if (!Request::versions.contains(version)) return std::nullopt;
  Request request;
  wire::decoder io(body, wire::dialect_of<Request>(version), client_errc::corrupt_data);
  io.structure(request);
  if (io.failed()) return std::nullopt;
  return request;
}

/// The whole frame of an answer, length prefix included.
template <class Response>
std::vector<std::byte> encode_answer(const Response& response, std::int16_t version,
                                     std::int32_t correlation_id) {
  auto encoded = wire::encode_response(response, version, correlation_id);
  PARTITA_ASSERT(!encoded.error, version, encoded.error.value());
  return encoded.frame.flatten();
}

}  // namespace partita::testing
