#include "wire/record_reader.hpp"

#include "wire/crc32c.hpp"
#include "wire/decoder.hpp"
#include "wire/record_batch.hpp"
#include "wire/varints.hpp"

#include <partita/error.hpp>

namespace partita::wire {

namespace {

constexpr std::int8_t current_magic = 2;

std::string_view as_text(const std::byte* at, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(at), size};
}

/// A varint length and as many bytes; -1 is null. Returns null when it does not fit before `end`.
const std::byte* read_part(const std::byte* at, const std::byte* end,
                           std::optional<std::string_view>& part) noexcept {
  std::int32_t length = 0;
  at = get_varint32(at, end, length);
  if (at == nullptr || length < -1 || length > end - at) return nullptr;
  if (length < 0) {
    part.reset();
    return at;
  }
  part = as_text(at, static_cast<std::size_t>(length));
  return at + length;
}

}  // namespace

std::optional<batch_header> parse_batch_header(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < batch_header_size) return std::nullopt;
  decoder io(bytes.first(batch_header_size), {0, false}, client_errc::corrupt_data);
  batch_header header;
  io(header.base_offset, header.batch_length, header.partition_leader_epoch, header.magic,
     header.crc, header.attributes, header.last_offset_delta, header.base_timestamp,
     header.max_timestamp, header.producer_id, header.producer_epoch, header.base_sequence,
     header.records_count);
  return header;
}

bool checksum_matches(const batch_header& header, std::span<const std::byte> batch) noexcept {
  return batch.size() >= batch_header_size &&
         crc32c(batch.subspan(batch_checked_position)) == header.crc;
}

bool batch_reader::next() {
  if (error_ || truncated_ || rest_.empty()) return false;
  const auto header = parse_batch_header(rest_);
  if (!header) {
    truncated_ = true;
    return false;
  }
  const std::int64_t size = header->total_size();
  if (header->magic != current_magic || size < static_cast<std::int64_t>(batch_header_size)) {
    error_ = client_errc::corrupt_data;
    return false;
  }
  if (size > static_cast<std::int64_t>(rest_.size())) {
    truncated_ = true;
    return false;
  }
  const auto batch = rest_.first(static_cast<std::size_t>(size));
  if (check_ == checksum::verify && !checksum_matches(*header, batch)) {
    error_ = client_errc::corrupt_data;
    return false;
  }
  header_ = *header;
  batch_ = batch;
  rest_ = rest_.subspan(batch.size());
  return true;
}

record_reader::record_reader(std::span<const std::byte> batch, std::size_t limit, checksum check) {
  const auto header = parse_batch_header(batch);
  if (!header || header->magic != current_magic ||
      header->total_size() != static_cast<std::int64_t>(batch.size()) ||
      header->records_count < 0 ||
      (check == checksum::verify && !checksum_matches(*header, batch))) {
    error_ = client_errc::corrupt_data;
    return;
  }
  header_ = *header;
  left_ = header_.records_count;
  rest_ = batch.subspan(batch_header_size);
  if (header_.codec_number() == 0) return;
  decompressed content = decompress(static_cast<codec>(header_.codec_number()), rest_, limit);
  error_ = content.error;
  decompressed_ = std::move(content.bytes);
  rest_ = decompressed_;
}

bool record_reader::fail() noexcept {
  error_ = client_errc::corrupt_data;
  return false;
}

bool record_reader::next(record_view& out) {
  if (error_) return false;
  if (left_ == 0) return rest_.empty() ? false : fail();
  std::int32_t length = 0;
  const std::byte* const end = rest_.data() + rest_.size();
  const std::byte* const at = get_varint32(rest_.data(), end, length);
  if (at == nullptr || length < 0 || length > end - at) return fail();
  if (!read_record(at, at + length, out)) return fail();
  rest_ = std::span<const std::byte>(at + length, end);
  --left_;
  return true;
}

bool record_reader::read_record(const std::byte* at, const std::byte* end, record_view& out) {
  if (at == end) return false;
  ++at;  // attributes: none is defined
  std::int64_t timestamp_delta = 0;
  at = get_varint64(at, end, timestamp_delta);
  if (at != nullptr) at = get_varint32(at, end, out.offset_delta);
  if (at != nullptr) at = read_part(at, end, out.key);
  if (at != nullptr) at = read_part(at, end, out.value);
  if (at != nullptr) at = read_headers(at, end);
  if (at != end) return false;
  // Unsigned arithmetic: a hostile delta must not overflow.
  out.timestamp_ms =
      header_.log_append_time()
          ? header_.max_timestamp
          : static_cast<std::int64_t>(static_cast<std::uint64_t>(header_.base_timestamp) +
                                      static_cast<std::uint64_t>(timestamp_delta));
  out.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(header_.base_offset) +
                                         static_cast<std::uint64_t>(out.offset_delta));
  out.headers = headers_;
  return true;
}

const std::byte* record_reader::read_headers(const std::byte* at, const std::byte* end) {
  std::int32_t count = 0;
  at = get_varint32(at, end, count);
  // A header takes two bytes at least.
  if (at == nullptr || count < 0 || count > (end - at) / 2) return nullptr;
  headers_.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    std::optional<std::string_view> key;
    std::optional<std::string_view> value;
    at = read_part(at, end, key);
    if (at == nullptr || !key) return nullptr;
    at = read_part(at, end, value);
    if (at == nullptr) return nullptr;
    headers_.push_back({*key, value});
  }
  return at;
}

}  // namespace partita::wire
