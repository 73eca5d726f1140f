// Record batches for tests of the simulated cluster, every header field open to falsification.
#pragma once

#include "api/testing/batch_bytes.hpp"
#include "wire/crc32c.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {

struct batch_spec {
  std::int64_t producer_id = -1;
  std::int16_t epoch = -1;
  std::int32_t sequence = -1;
  std::vector<std::string> values{"r0"};
  std::optional<std::string> key = "k";
  std::int64_t timestamp = 1'000'000;
  std::int64_t base_offset = 0;
  std::int16_t attributes = 0;
  std::int8_t magic = 2;
  std::optional<std::int32_t> record_count{};
  std::optional<std::int32_t> last_offset_delta{};
  std::optional<std::int32_t> batch_length{};
  std::optional<std::int64_t> max_timestamp{};
  std::uint32_t spoil_checksum = 0;
};

class byte_writer {
 public:
  template <class Number>
  void number(Number value) {
    for (std::size_t i = sizeof(Number); i-- > 0;)
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff));
  }
  void varint(std::int64_t value) {
    auto rest = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (; rest > 0x7f; rest >>= 7) bytes_.push_back(static_cast<std::byte>((rest & 0x7f) | 0x80));
    bytes_.push_back(static_cast<std::byte>(rest));
  }
  void text(const std::optional<std::string>& value) {
    varint(value ? static_cast<std::int64_t>(value->size()) : -1);
    if (value)
      for (const char c : *value) bytes_.push_back(static_cast<std::byte>(c));
  }
  void raw(const std::vector<std::byte>& more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
  }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Record i has the timestamp `timestamp + i`.
inline std::vector<std::byte> make_batch(const batch_spec& spec) {
  byte_writer body;
  const auto count = static_cast<std::int32_t>(spec.values.size());
  body.number(spec.attributes);
  body.number(spec.last_offset_delta.value_or(count - 1));
  body.number(spec.timestamp);
  body.number(spec.max_timestamp.value_or(spec.timestamp + count - 1));
  body.number(spec.producer_id);
  body.number(spec.epoch);
  body.number(spec.sequence);
  body.number(spec.record_count.value_or(count));
  for (std::int32_t i = 0; i < count; ++i) {
    byte_writer record;
    record.number(std::int8_t{0});
    record.varint(spec.timestamp == -1 ? 0 : i);
    record.varint(i);
    record.text(spec.key);
    record.text(spec.values[static_cast<std::size_t>(i)]);
    record.varint(0);
    body.varint(static_cast<std::int64_t>(record.bytes().size()));
    body.raw(record.bytes());
  }
  byte_writer batch;
  batch.number(spec.base_offset);
  batch.number(spec.batch_length.value_or(static_cast<std::int32_t>(body.bytes().size()) + 9));
  batch.number(std::int32_t{-1});
  batch.number(spec.magic);
  batch.number(wire::crc32c(body.bytes()) ^ spec.spoil_checksum);
  batch.raw(body.bytes());
  return batch.bytes();
}

}  // namespace partita::testing
