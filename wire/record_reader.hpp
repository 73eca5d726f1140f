// Reading record batches: headers only (settlement), or every record (log readers, the simulated
// broker).
//
// Invariants
// 1. Any bytes may come in. Nothing is read outside the span, nothing is allocated by a length or
//    count that the bytes state, and a reader that met an error yields nothing more.
// 2. Views point into the bytes handed in, or into the reader's own decompressed copy: they die
//    with it.
//
// Threads: one owner at a time.
#pragma once

#include "wire/batch_stamp.hpp"
#include "wire/compression.hpp"

#include <partita/ids.hpp>
#include <partita/record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace partita::wire {

/// The 61 bytes in front of a batch's records, as they are.
struct batch_header {
  std::int64_t base_offset = 0;
  std::int32_t batch_length = 0;  ///< bytes behind this field
  std::int32_t partition_leader_epoch = -1;
  std::int8_t magic = 2;
  std::uint32_t crc = 0;
  std::int16_t attributes = 0;
  std::int32_t last_offset_delta = 0;
  std::int64_t base_timestamp = -1;
  std::int64_t max_timestamp = -1;
  partita::producer_id producer_id;
  partita::producer_epoch producer_epoch;
  sequence base_sequence;
  std::int32_t records_count = 0;

  /// The whole batch in bytes; negative or small when the length field lies.
  [[nodiscard]] std::int64_t total_size() const noexcept { return std::int64_t{batch_length} + 12; }
  [[nodiscard]] std::int64_t last_offset() const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base_offset) +
                                     static_cast<std::uint64_t>(last_offset_delta));
  }
  /// The codec's number, which may be none that exists.
  [[nodiscard]] int codec_number() const noexcept { return attributes & 0x07; }
  [[nodiscard]] bool log_append_time() const noexcept { return (attributes & 0x08) != 0; }
  [[nodiscard]] bool transactional() const noexcept { return (attributes & 0x10) != 0; }
  [[nodiscard]] bool control() const noexcept { return (attributes & 0x20) != 0; }
  [[nodiscard]] batch_stamp stamp() const noexcept {
    return {producer_id, producer_epoch, base_sequence};
  }

  friend bool operator==(const batch_header&, const batch_header&) = default;
};

/// Takes the fields as they are, unchecked; absent when there are fewer than 61 bytes.
[[nodiscard]] std::optional<batch_header> parse_batch_header(
    std::span<const std::byte> bytes) noexcept;
/// The checksum over a whole batch's bytes equals its header's.
[[nodiscard]] bool checksum_matches(const batch_header& header,
                                    std::span<const std::byte> batch) noexcept;

enum class checksum : std::uint8_t { skip, verify };

/// Walks the batches in the records of a Fetch answer.
class batch_reader {
 public:
  explicit batch_reader(std::span<const std::byte> records,
                        checksum check = checksum::verify) noexcept
      : rest_(records), check_(check) {}

  /// The next complete batch. False at the end, at a batch that is cut short (usual at the end of a
  /// Fetch answer: see truncated()), or at an error.
  [[nodiscard]] bool next();

  [[nodiscard]] const batch_header& header() const noexcept { return header_; }
  [[nodiscard]] std::span<const std::byte> batch() const noexcept { return batch_; }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }
  /// corrupt_data: an impossible length, another magic than 2, or a wrong checksum.
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

 private:
  std::span<const std::byte> rest_;
  std::span<const std::byte> batch_;
  batch_header header_;
  std::error_code error_;
  checksum check_;
  bool truncated_ = false;
};

/// One record, as views.
struct record_view {
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = 0;  ///< the batch's max timestamp when the log stamped it on append
  std::int32_t offset_delta = 0;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::span<const header> headers;  ///< valid until the next call of next()
};

inline constexpr std::size_t decompressed_batch_limit_default = std::size_t{128} << 20;

/// Walks the records of one whole batch.
class record_reader {
 public:
  /// `limit` bounds the decompressed size.
  explicit record_reader(std::span<const std::byte> batch,
                         std::size_t limit = decompressed_batch_limit_default,
                         checksum check = checksum::verify);
  record_reader(const record_reader&) = delete;
  record_reader& operator=(const record_reader&) = delete;

  /// False at the end or at an error.
  [[nodiscard]] bool next(record_view& out);

  [[nodiscard]] const batch_header& header() const noexcept { return header_; }
  /// Also set when fewer records than stated, or bytes behind the last one, were found.
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

 private:
  [[nodiscard]] bool read_record(const std::byte* at, const std::byte* end, record_view& out);
  [[nodiscard]] const std::byte* read_headers(const std::byte* at, const std::byte* end);
  bool fail() noexcept;

  batch_header header_;
  std::vector<std::byte> decompressed_;
  std::vector<partita::header> headers_;
  std::span<const std::byte> rest_;
  std::int32_t left_ = 0;
  std::error_code error_;
};

}  // namespace partita::wire
