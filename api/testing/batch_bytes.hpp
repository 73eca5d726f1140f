// The bytes of a record batch (magic 2) as a broker sees them: read, checked, patched.
//
// The model reads batches with code of its own, not with the client's record reader: a mistake that
// both sides shared would be invisible in every test.
//
// Invariants
// 1. Reading never goes beyond the span it was given, whatever the header says.
// 2. Patching keeps the checksum right: fields inside its reach are followed by a new one.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::testing {

using byte_view = std::span<const std::byte>;

inline constexpr std::size_t batch_prefix_bytes = 12;  ///< base offset and length
inline constexpr std::size_t batch_header_bytes = 61;

inline constexpr std::int16_t attribute_codec = 0x07;
inline constexpr std::int16_t attribute_log_append_time = 0x08;
inline constexpr std::int16_t attribute_transactional = 0x10;
inline constexpr std::int16_t attribute_control = 0x20;

struct batch_header {
  std::int64_t base_offset = 0;
  std::int32_t batch_length = 0;  ///< bytes behind this field
  std::int32_t leader_epoch = -1;
  std::int8_t magic = 2;
  std::uint32_t checksum = 0;
  std::int16_t attributes = 0;
  std::int32_t last_offset_delta = 0;
  std::int64_t base_timestamp = -1;
  std::int64_t max_timestamp = -1;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  std::int32_t record_count = 0;

  [[nodiscard]] int codec() const noexcept { return attributes & attribute_codec; }
  [[nodiscard]] bool transactional() const noexcept {
    return (attributes & attribute_transactional) != 0;
  }
  [[nodiscard]] bool control() const noexcept { return (attributes & attribute_control) != 0; }
  /// The sequence of the last record, modulo 2^31.
  [[nodiscard]] std::int32_t last_sequence() const noexcept;
};

/// Needs batch_header_bytes; fields are taken as they are.
batch_header read_batch_header(byte_view bytes) noexcept;

struct parsed_record {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::vector<std::pair<std::string_view, std::optional<std::string_view>>> headers;
};

/// The records of an uncompressed payload; nothing when they do not parse, or are not exactly
/// `count`.
std::optional<std::vector<parsed_record>> parse_records(byte_view payload, std::int32_t count);

enum class unpack_error : std::uint8_t { none, codec, records };

struct unpacked_records {
  unpack_error error = unpack_error::none;
  std::vector<std::byte> storage;  ///< owns what `records` point into when the batch was compressed
  std::vector<parsed_record> records;
};

/// Decompresses if needed and parses; `batch` outlives the result.
unpacked_records unpack(byte_view batch, const batch_header& header);

/// The batch with other records: `payload` is uncompressed, the header says codec, timestamps and
/// count; the rest of it is that of `batch`. Nothing when the codec fails.
std::optional<std::vector<std::byte>> with_records(byte_view batch, const batch_header& header,
                                                   byte_view payload);

/// The same batch under another codec; nothing when the codec fails.
std::optional<std::vector<std::byte>> recompress(byte_view batch, const batch_header& header,
                                                 int codec);

/// CRC-32C of everything behind the checksum field.
std::uint32_t batch_checksum(byte_view batch);

/// Fields outside the checksum.
void patch_place(std::span<std::byte> batch, std::int64_t base_offset, std::int32_t leader_epoch);
/// Attributes and largest timestamp, then the checksum.
void patch_timestamps(std::span<std::byte> batch, std::int16_t attributes,
                      std::int64_t max_timestamp);

}  // namespace partita::testing
