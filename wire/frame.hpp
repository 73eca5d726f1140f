// Whole messages: length prefix, headers and body, for both sides (the simulated broker serves the
// same messages).
//
//   frame    = int32 size, then
//   request  = int16 api key, int16 version, int32 correlation id, client id [, tags], body
//   response = int32 correlation id [, tags], body
//
// Invariants
// 1. An encoded frame is complete: its length prefix counts own and borrowed bytes.
// 2. Headers carry tags where the body is flexible, except the header of an ApiVersions answer,
//    which never does (KIP-511): a client has to read it before it knows the broker's versions.
// 3. Trailing bytes are an error, in answers and in requests alike.
//
// Threads: pure functions.
#pragma once

#include "wire/api_key.hpp"
#include "wire/decoder.hpp"
#include "wire/dialect.hpp"
#include "wire/encoder.hpp"
#include "wire/gather_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace partita::wire {

/// Where a request's correlation id lies in its frame, length prefix included.
inline constexpr std::size_t request_correlation_position = 8;

struct encoded_frame {
  gather_buffer frame;    ///< with the length prefix; use only without an error
  std::error_code error;  ///< unsupported_version, invalid_value
  const char* reason = "";
};

template <class Message>
struct decoded {
  Message value{};
  decode_failure failure;

  [[nodiscard]] bool ok() const noexcept { return !failure; }
};

struct request_header {
  std::int16_t key = 0;  ///< raw: a peer may ask for an API that we do not know
  std::int16_t version = 0;
  std::int32_t correlation_id = 0;
  std::optional<std::string> client_id;
};

struct parsed_request {
  request_header header;
  std::span<const std::byte> body;
  decode_failure failure;
};

/// Parses what follows the length prefix. For an unknown API the body is everything behind a header
/// without tags.
[[nodiscard]] parsed_request parse_request_header(std::span<const std::byte> frame);

namespace detail {
void begin_request(gather_buffer& out, api_key key, dialect body, std::int32_t correlation_id,
                   std::optional<std::string_view> client_id, encoder& io);
void begin_response(gather_buffer& out, api_key key, dialect body, std::int32_t correlation_id,
                    encoder& io);
void finish_frame(encoded_frame& result, const encoder& io);
void skip_response_tags(api_key key, decoder& io);
}  // namespace detail

template <class Request>
[[nodiscard]] encoded_frame encode_request(const Request& request, std::int16_t version,
                                           std::int32_t correlation_id,
                                           std::optional<std::string_view> client_id) {
  encoded_frame result;
  encoder io(result.frame, dialect_of<Request>(version));
  if (!Request::versions.contains(version))
    io.fail(client_errc::unsupported_version, "version not described");
  detail::begin_request(result.frame, Request::key, io.dialect(), correlation_id, client_id, io);
  io.structure(request);
  detail::finish_frame(result, io);
  return result;
}

template <class Response>
[[nodiscard]] encoded_frame encode_response(const Response& response, std::int16_t version,
                                            std::int32_t correlation_id) {
  encoded_frame result;
  encoder io(result.frame, dialect_of<Response>(version));
  if (!Response::versions.contains(version))
    io.fail(client_errc::unsupported_version, "version not described");
  detail::begin_response(result.frame, Response::key, io.dialect(), correlation_id, io);
  io.structure(response);
  detail::finish_frame(result, io);
  return result;
}

/// `body` is parse_request_header()'s.
template <class Request>
[[nodiscard]] decoded<Request> decode_request(std::int16_t version,
                                              std::span<const std::byte> body) {
  decoded<Request> result;
  decoder io(body, dialect_of<Request>(version), client_errc::corrupt_data);
  if (!Request::versions.contains(version)) io.fail("version not described");
  io.structure(result.value);
  io.expect_end();
  result.failure = io.failure();
  return result;
}

/// `bytes` is everything behind the correlation id: header tags, if any, and body.
template <class Response>
[[nodiscard]] decoded<Response> decode_response(std::int16_t version,
                                                std::span<const std::byte> bytes) {
  decoded<Response> result;
  decoder io(bytes, dialect_of<Response>(version));
  if (!Response::versions.contains(version)) io.fail("version not described");
  detail::skip_response_tags(Response::key, io);
  io.structure(result.value);
  io.expect_end();
  result.failure = io.failure();
  return result;
}

}  // namespace partita::wire

// Each message is compiled once, in its own source file: describe() is a template of both
// directions, and every file that sends a request would pay for it otherwise.
#define PARTITA_WIRE_MESSAGE_(prefix, name)                                                        \
  prefix template ::partita::wire::encoded_frame(::partita::wire::encode_request<name##_request>)( \
      const name##_request&, std::int16_t, std::int32_t, std::optional<std::string_view>);         \
  prefix template ::partita::wire::encoded_frame(                                                  \
      ::partita::wire::encode_response<name##_response>)(const name##_response&, std::int16_t,     \
                                                         std::int32_t);                            \
  prefix template ::partita::wire::decoded<name##_request>(                                        \
      ::partita::wire::decode_request<name##_request>)(std::int16_t, std::span<const std::byte>);  \
  prefix template ::partita::wire::decoded<name##_response>(                                       \
      ::partita::wire::decode_response<name##_response>)(std::int16_t, std::span<const std::byte>)
#define PARTITA_WIRE_DECLARE_MESSAGE(name) PARTITA_WIRE_MESSAGE_(extern, name)
#define PARTITA_WIRE_DEFINE_MESSAGE(name) PARTITA_WIRE_MESSAGE_(, name)
