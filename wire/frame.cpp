#include "wire/frame.hpp"

#include <array>
#include <limits>

namespace partita::wire {

parsed_request parse_request_header(std::span<const std::byte> frame) {
  parsed_request result;
  decoder io(frame, {0, false}, client_errc::corrupt_data);
  result.header.key = io.integer<std::int16_t>();
  result.header.version = io.integer<std::int16_t>();
  result.header.correlation_id = io.integer<std::int32_t>();
  result.header.client_id = io.classic_string();
  if (result.header.version >= first_flexible(static_cast<api_key>(result.header.key)))
    io.skip_header_tags();
  result.body = io.rest();
  result.failure = io.failure();
  return result;
}

namespace detail {

namespace {
constexpr std::size_t length_prefix_size = 4;
constexpr std::size_t frame_own_bytes_expected = 1024;
}  // namespace

void begin_request(gather_buffer& out, api_key key, dialect body, std::int32_t correlation_id,
                   std::optional<std::string_view> client_id, encoder& io) {
  out.reserve(frame_own_bytes_expected);
  io.integer<std::int32_t>(0);  // the length, patched when it is known
  io.integer(static_cast<std::int16_t>(key));
  io.integer(body.version);
  io.integer(correlation_id);
  io.classic_string(client_id);
  if (body.flexible) io.uvarint(0);
}

void begin_response(gather_buffer& out, api_key key, dialect body, std::int32_t correlation_id,
                    encoder& io) {
  out.reserve(frame_own_bytes_expected);
  io.integer<std::int32_t>(0);
  io.integer(correlation_id);
  if (body.flexible && key != api_key::api_versions) io.uvarint(0);
}

void finish_frame(encoded_frame& result, const encoder& io) {
  const std::size_t length = result.frame.size() - length_prefix_size;
  result.error = io.error();
  result.reason = io.reason();
  if (!result.error && length > std::numeric_limits<std::int32_t>::max()) {
    result.error = client_errc::invalid_value;
    result.reason = "frame too long";
  }
  if (result.error) return;
  std::array<std::byte, length_prefix_size> prefix;
  for (std::size_t i = 0; i < prefix.size(); ++i)
    prefix[i] = static_cast<std::byte>(length >> (8 * (prefix.size() - 1 - i)) & 0xff);
  result.frame.patch(0, prefix);
}

void skip_response_tags(api_key key, decoder& io) {
  if (!io.dialect().flexible || key == api_key::api_versions) return;
  io.skip_header_tags();
}

}  // namespace detail
}  // namespace partita::wire
