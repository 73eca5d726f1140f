#include "api/testing/batch_bytes.hpp"

#include "wire/compression.hpp"
#include "wire/crc32c.hpp"
#include "wire/segments.hpp"

namespace partita::testing {
namespace {

constexpr std::size_t unpacked_bytes_max = std::size_t{256} * 1024 * 1024;

template <class Number>
Number big_endian(byte_view bytes, std::size_t at) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  return static_cast<Number>(value);
}

template <class Number>
void put_big_endian(std::span<std::byte> bytes, std::size_t at, Number number) noexcept {
  auto value = static_cast<std::uint64_t>(number);
  for (std::size_t i = sizeof(Number); i-- > 0; value >>= 8)
    bytes[at + i] = static_cast<std::byte>(value & 0xff);
}

// Reads zig-zag varints; `good` turns false at the first one that does not fit and stays so.
struct record_cursor {
  byte_view bytes;
  std::size_t at = 0;
  bool good = true;

  std::int64_t varint(int bits) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < bits; shift += 7) {
      if (!good || at >= bytes.size()) break;
      const auto byte = std::to_integer<std::uint64_t>(bytes[at++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
    }
    good = false;
    return 0;
  }
  std::int64_t length() { return varint(35); }

  std::optional<std::string_view> text() {
    const auto size = length();
    if (size < 0 || !good) return std::nullopt;
    if (static_cast<std::uint64_t>(size) > bytes.size() - at) {
      good = false;
      return std::nullopt;
    }
    const auto* start = reinterpret_cast<const char*>(bytes.data()) + at;
    at += static_cast<std::size_t>(size);
    return std::string_view{start, static_cast<std::size_t>(size)};
  }
};

std::optional<parsed_record> parse_record(record_cursor& cursor) {
  const auto size = cursor.length();
  if (!cursor.good || size < 0 ||
      static_cast<std::uint64_t>(size) > cursor.bytes.size() - cursor.at || size == 0)
    return std::nullopt;
  const auto end = cursor.at + static_cast<std::size_t>(size);
  record_cursor body{cursor.bytes.first(end), cursor.at + 1};  // one byte of unused attributes
  parsed_record record;
  record.timestamp_delta = body.varint(70);
  record.offset_delta = static_cast<std::int32_t>(body.length());
  record.key = body.text();
  record.value = body.text();
  const auto headers = body.length();
  if (!body.good || headers < 0 || static_cast<std::uint64_t>(headers) > end - body.at)
    return std::nullopt;
  for (std::int64_t i = 0; i < headers && body.good; ++i) {
    const auto key = body.text();
    if (!key) return std::nullopt;
    auto value = body.text();
    record.headers.emplace_back(*key, value);
  }
  if (!body.good || body.at != end) return std::nullopt;
  cursor.at = end;
  return record;
}

}  // namespace

std::int32_t batch_header::last_sequence() const noexcept {
  constexpr std::int64_t wrap = std::int64_t{1} << 31;
  if (base_sequence < 0) return base_sequence;
  return static_cast<std::int32_t>((std::int64_t{base_sequence} + last_offset_delta) % wrap);
}

batch_header read_batch_header(byte_view bytes) noexcept {
  batch_header header;
  header.base_offset = big_endian<std::int64_t>(bytes, 0);
  header.batch_length = big_endian<std::int32_t>(bytes, 8);
  header.leader_epoch = big_endian<std::int32_t>(bytes, 12);
  header.magic = big_endian<std::int8_t>(bytes, 16);
  header.checksum = big_endian<std::uint32_t>(bytes, 17);
  header.attributes = big_endian<std::int16_t>(bytes, 21);
  header.last_offset_delta = big_endian<std::int32_t>(bytes, 23);
  header.base_timestamp = big_endian<std::int64_t>(bytes, 27);
  header.max_timestamp = big_endian<std::int64_t>(bytes, 35);
  header.producer_id = big_endian<std::int64_t>(bytes, 43);
  header.producer_epoch = big_endian<std::int16_t>(bytes, 51);
  header.base_sequence = big_endian<std::int32_t>(bytes, 53);
  header.record_count = big_endian<std::int32_t>(bytes, 57);
  return header;
}

std::optional<std::vector<parsed_record>> parse_records(byte_view payload, std::int32_t count) {
  record_cursor cursor{payload};
  std::vector<parsed_record> records;
  if (count < 0 || static_cast<std::uint64_t>(count) > payload.size()) return std::nullopt;
  records.reserve(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) {
    auto record = parse_record(cursor);
    if (!record) return std::nullopt;
    records.push_back(std::move(*record));
  }
  if (cursor.at != payload.size()) return std::nullopt;
  return records;
}

unpacked_records unpack(byte_view batch, const batch_header& header) {
  unpacked_records result;
  auto payload = batch.subspan(batch_header_bytes);
  if (header.codec() != 0) {
    if (header.codec() > static_cast<int>(wire::codec::zstd)) {
      result.error = unpack_error::codec;
      return result;
    }
    auto plain =
        wire::decompress(static_cast<wire::codec>(header.codec()), payload, unpacked_bytes_max);
    if (plain.error) {
      result.error = unpack_error::codec;
      return result;
    }
    result.storage = std::move(plain.bytes);
    payload = result.storage;
  }
  auto records = parse_records(payload, header.record_count);
  if (records) {
    result.records = std::move(*records);
  } else {
    result.error = unpack_error::records;
  }
  return result;
}

std::optional<std::vector<std::byte>> recompress(byte_view batch, const batch_header& header,
                                                 int codec) {
  auto payload = batch.subspan(batch_header_bytes);
  wire::decompressed plain;
  if (header.codec() != 0) {
    plain = wire::decompress(static_cast<wire::codec>(header.codec()), payload, unpacked_bytes_max);
    if (plain.error) return std::nullopt;
    payload = plain.bytes;
  }
  batch_header wanted = header;
  wanted.attributes = static_cast<std::int16_t>((header.attributes & ~attribute_codec) | codec);
  return with_records(batch, wanted, payload);
}

std::optional<std::vector<std::byte>> with_records(byte_view batch, const batch_header& header,
                                                   byte_view payload) {
  std::vector<std::byte> made(batch.begin(), batch.begin() + batch_header_bytes);
  if (header.codec() == 0) {
    made.insert(made.end(), payload.begin(), payload.end());
  } else {
    const auto wanted = static_cast<wire::codec>(header.codec());
    wire::segment_chain input;
    wire::segment_chain output;
    input.append(payload);
    if (wire::compress(wanted, wire::levels_of(wanted).preset, input, 0, output))
      return std::nullopt;
    const auto packed = output.flatten();
    made.insert(made.end(), packed.begin(), packed.end());
  }
  put_big_endian(std::span{made}, 8, static_cast<std::int32_t>(made.size() - batch_prefix_bytes));
  put_big_endian(std::span{made}, 27, header.base_timestamp);
  put_big_endian(std::span{made}, 57, header.record_count);
  patch_timestamps(made, header.attributes, header.max_timestamp);
  return made;
}

std::uint32_t batch_checksum(byte_view batch) { return wire::crc32c(batch.subspan(21)); }

void patch_place(std::span<std::byte> batch, std::int64_t base_offset, std::int32_t leader_epoch) {
  put_big_endian(batch, 0, base_offset);
  put_big_endian(batch, 12, leader_epoch);
}

void patch_timestamps(std::span<std::byte> batch, std::int16_t attributes,
                      std::int64_t max_timestamp) {
  put_big_endian(batch, 21, attributes);
  put_big_endian(batch, 35, max_timestamp);
  put_big_endian(batch, 17, batch_checksum(batch));
}

}  // namespace partita::testing
