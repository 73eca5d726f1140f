// Building a record batch (format v2) in place, sealing it, and numbering it again where that is
// proven safe.
//
// Invariants
// 1. size() is the exact number of bytes of the batch uncompressed, header included; size_with()
//    says exactly what it would be with one more record.
// 2. After seal() nothing but restamp() changes a byte (L2). restamp() is for batches of which no
//    attempt can have been appended (L1, L3); this file can not check that, its caller asserts
//    it.
// 3. Compression happens once, in seal(), and never enlarges a batch.
// 4. The checksum covers everything behind it, so producer id, epoch and sequence, but not the
//    topic or partition (KAFKA-19012): bytes must belong to their write until it ends (L7).
//
// Threads: one owner at a time. record_tail_size() and encode_record_tail() are pure and run on the
// producing thread.
#pragma once

#include "wire/batch_stamp.hpp"
#include "wire/compression.hpp"
#include "wire/segments.hpp"
#include "wire/varints.hpp"

#include <partita/ids.hpp>
#include <partita/record.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::wire {

inline constexpr std::size_t batch_header_size = 61;
/// Where that begins which a batch's checksum covers.
inline constexpr std::size_t batch_checked_position = 21;
/// Length, attributes, timestamp delta and offset delta of a record, at most.
inline constexpr std::size_t record_prefix_size_max = 21;

/// Bytes of a record's part that does not depend on its batch: key, value and headers with their
/// lengths.
[[nodiscard]] std::size_t record_tail_size(const record& source) noexcept;
/// Writes exactly record_tail_size(source) bytes and returns the position behind them.
std::byte* encode_record_tail(const record& source, std::byte* out) noexcept;

/// A batch whose bytes are final.
class sealed_batch {
 public:
  sealed_batch() = default;

  [[nodiscard]] const segment_chain& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::int32_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t base_timestamp() const noexcept { return base_timestamp_; }
  [[nodiscard]] std::int64_t max_timestamp() const noexcept { return max_timestamp_; }
  [[nodiscard]] batch_stamp stamp() const noexcept { return stamp_; }
  [[nodiscard]] std::uint32_t crc() const noexcept { return crc_; }
  /// none where compression would have enlarged the batch.
  [[nodiscard]] wire::codec codec() const noexcept { return codec_; }
  /// Size before compression, header included.
  [[nodiscard]] std::size_t uncompressed_size() const noexcept { return uncompressed_size_; }

  /// Gives the batch other numbers. Only for a batch of which every attempt is proven unappended,
  /// or which was never sent.
  void restamp(const batch_stamp& stamp);

 private:
  friend class batch_builder;
  void write_header(bool transactional);
  void write_checksum();

  segment_chain bytes_;
  batch_stamp stamp_;
  std::int64_t base_timestamp_ = -1;
  std::int64_t max_timestamp_ = -1;
  std::int32_t count_ = 0;
  std::uint32_t crc_ = 0;
  wire::codec codec_ = wire::codec::none;
  std::size_t uncompressed_size_ = 0;
};

/// An open batch: records go in, nothing comes out until seal().
class batch_builder {
 public:
  explicit batch_builder(segment_pool* pool = nullptr);

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::int32_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return count_ == 0 ? batch_header_size : bytes_.size();
  }
  /// Memory held; none while empty.
  [[nodiscard]] std::size_t footprint() const noexcept { return bytes_.footprint(); }
  [[nodiscard]] std::int64_t base_timestamp() const noexcept { return base_timestamp_; }
  [[nodiscard]] std::int64_t max_timestamp() const noexcept { return max_timestamp_; }

  /// The size the batch would have with this record.
  [[nodiscard]] std::size_t size_with(std::int64_t timestamp_ms,
                                      std::size_t tail_size) const noexcept {
    const std::size_t body = body_size(timestamp_ms, tail_size);
    return size() + varint_size(static_cast<std::int64_t>(body)) + body;
  }
  /// The same for the first record of a new batch.
  [[nodiscard]] static std::size_t size_alone(std::size_t tail_size) noexcept {
    const std::size_t body = 3 + tail_size;
    return batch_header_size + varint_size(static_cast<std::int64_t>(body)) + body;
  }

  /// Adds a record; `tail` comes from encode_record_tail(). The batch must stay below 2 GiB.
  void append(std::int64_t timestamp_ms, std::span<const std::byte> tail) {
    append_prefix(timestamp_ms, tail.size());
    bytes_.append(tail);
  }
  /// The same without a copy (segment_chain::lend()).
  void append(std::int64_t timestamp_ms, lent_segment& tail) {
    append_prefix(timestamp_ms, tail.bytes.size());
    bytes_.lend(tail);
  }

  /// Writes the header, compresses and computes the checksum. The builder is empty afterwards and
  /// may be used again. A codec that fails leaves the batch uncompressed.
  [[nodiscard]] sealed_batch seal(const batch_stamp& stamp, codec which = codec::none,
                                  int level = 0, bool transactional = false);

  /// A copy of the batch as it is now, for a record_reader that skips the checksum: uncompressed,
  /// without a stamp. Not of an empty batch.
  [[nodiscard]] std::vector<std::byte> preview() const;

 private:
  static constexpr std::size_t batch_size_limit = 0x7fff0000;

  [[nodiscard]] std::size_t body_size(std::int64_t timestamp_ms,
                                      std::size_t tail_size) const noexcept {
    const std::int64_t delta = count_ == 0 ? 0 : timestamp_ms - base_timestamp_;
    return 1 + varint_size(delta) + varint_size(count_) + tail_size;
  }
  void start(std::int64_t timestamp_ms);
  /// What goes before the tail.
  void append_prefix(std::int64_t timestamp_ms, std::size_t tail_size) {
    const std::size_t body = body_size(timestamp_ms, tail_size);
    PARTITA_EXPECTS(bytes_.size() + body < batch_size_limit, bytes_.size(), body);
    if (count_ == 0) start(timestamp_ms);
    std::byte* out = bytes_.prepare(record_prefix_size_max);
    out = put_varint(out, static_cast<std::int64_t>(body));
    *out++ = std::byte{0};
    out = put_varint(out, timestamp_ms - base_timestamp_);
    out = put_varint(out, count_);
    bytes_.commit(out);
    if (timestamp_ms > max_timestamp_) max_timestamp_ = timestamp_ms;
    ++count_;
  }

  segment_chain bytes_;
  std::int64_t base_timestamp_ = -1;
  std::int64_t max_timestamp_ = -1;
  std::int32_t count_ = 0;
};

}  // namespace partita::wire
