// What the fuzzers feed, and what the seeded mutation test feeds where there is no fuzzer: each
// function takes any bytes and must return, whatever they are.
#pragma once

#include "wire/messages/api_versions.hpp"
#include "wire/messages/describe_producers.hpp"
#include "wire/messages/fetch.hpp"
#include "wire/messages/init_producer_id.hpp"
#include "wire/messages/list_offsets.hpp"
#include "wire/messages/metadata.hpp"
#include "wire/messages/produce.hpp"
#include "wire/record_reader.hpp"

#include <cstddef>
#include <cstdlib>
#include <span>

namespace partita::wire {

inline constexpr std::size_t fuzz_decompression_limit = 1 << 20;

/// Reads every batch and record; returns how many records there were.
inline std::size_t fuzz_record_reader(std::span<const std::byte> bytes) {
  std::size_t records = 0;
  batch_reader batches(bytes, checksum::skip);
  while (batches.next()) {
    record_reader reader(batches.batch(), fuzz_decompression_limit, checksum::skip);
    for (record_view view; reader.next(view);) ++records;
  }
  record_reader whole(bytes, fuzz_decompression_limit, checksum::skip);
  for (record_view view; whole.next(view);) ++records;
  return records;
}

namespace detail {
template <class Request>
void fuzz_message(std::int16_t version, std::span<const std::byte> bytes) {
  using response = typename Request::response_type;
  const auto request = decode_request<Request>(version, bytes);
  if (request.ok() && encode_request(request.value, version, 1, "f").error) std::abort();
  const auto answer = decode_response<response>(version, bytes);
  if (answer.ok() && encode_response(answer.value, version, 1).error) std::abort();
}
}  // namespace detail

/// The first two bytes choose message and version, the rest is its body. What decodes must encode.
inline void fuzz_decoder(std::span<const std::byte> bytes) {
  (void)parse_request_header(bytes);
  (void)decode_api_versions_answer(4, bytes);
  if (bytes.size() < 2) return;
  const auto version = static_cast<std::int16_t>(static_cast<unsigned>(bytes[1]) % 20);
  const auto body = bytes.subspan(2);
  switch (static_cast<unsigned>(bytes[0]) % 7) {
    case 0:
      return detail::fuzz_message<produce_request>(version, body);
    case 1:
      return detail::fuzz_message<fetch_request>(version, body);
    case 2:
      return detail::fuzz_message<list_offsets_request>(version, body);
    case 3:
      return detail::fuzz_message<metadata_request>(version, body);
    case 4:
      return detail::fuzz_message<api_versions_request>(version, body);
    case 5:
      return detail::fuzz_message<init_producer_id_request>(version, body);
    default:
      return detail::fuzz_message<describe_producers_request>(version, body);
  }
}

}  // namespace partita::wire
