#include "wire/record_batch.hpp"

#include "wire/crc32c.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace partita::wire {

namespace {

// Positions in the header; kafka's message format, version 2.
constexpr std::size_t length_position = 8;
constexpr std::size_t crc_position = 17;
constexpr std::size_t stamp_position = 43;
constexpr std::int16_t transactional_bit = 0x10;

template <class Integer>
std::byte* put_integer(std::byte* out, Integer value) noexcept {
  auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
  for (std::size_t i = sizeof(Integer); i-- > 0;) {
    out[i] = static_cast<std::byte>(bits & 0xff);
    if constexpr (sizeof(Integer) > 1) bits = static_cast<decltype(bits)>(bits >> 8);
  }
  return out + sizeof(Integer);
}

std::byte* put_stamp(std::byte* out, const batch_stamp& stamp) noexcept {
  out = put_integer(out, stamp.id.value);
  out = put_integer(out, stamp.epoch.value);
  return put_integer(out, stamp.base.value);
}

struct header_facts {
  std::size_t size;  // of the whole batch
  std::int16_t attributes;
  std::int32_t count;
  std::int64_t base_timestamp;
  std::int64_t max_timestamp;
  batch_stamp stamp;
};

/// The checksum is left out.
std::array<std::byte, batch_header_size> header_of(const header_facts& facts) {
  std::array<std::byte, batch_header_size> header{};
  std::byte* out = header.data();
  out = put_integer<std::int64_t>(out, 0);
  out = put_integer(out, static_cast<std::int32_t>(facts.size - length_position - 4));
  out = put_integer<std::int32_t>(out, -1);
  *out++ = std::byte{2};
  out = put_integer<std::uint32_t>(out, 0);
  out = put_integer(out, facts.attributes);
  out = put_integer(out, facts.count - 1);
  out = put_integer(out, facts.base_timestamp);
  out = put_integer(out, facts.max_timestamp);
  out = put_stamp(out, facts.stamp);
  out = put_integer(out, facts.count);
  PARTITA_ASSERT(out == header.data() + header.size());
  return header;
}

/// Room for the header, which is written when all of it is known.
void append_blank_header(segment_chain& bytes) {
  std::byte* const header = bytes.prepare(batch_header_size);
  std::memset(header, 0, batch_header_size);
  bytes.commit(header + batch_header_size);
}

std::size_t part_size(const std::optional<std::string_view>& part) noexcept {
  if (!part) return 1;
  return varint_size(static_cast<std::int64_t>(part->size())) + part->size();
}

std::byte* put_bytes(std::byte* out, std::string_view bytes) noexcept {
  out = put_varint(out, static_cast<std::int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

std::byte* put_part(std::byte* out, const std::optional<std::string_view>& part) noexcept {
  return part ? put_bytes(out, *part) : put_varint(out, -1);
}

}  // namespace

std::size_t record_tail_size(const record& source) noexcept {
  std::size_t size = part_size(source.key) + part_size(source.value) +
                     varint_size(static_cast<std::int64_t>(source.headers.size()));
  for (const header& entry : source.headers) size += part_size(entry.key) + part_size(entry.value);
  return size;
}

std::byte* encode_record_tail(const record& source, std::byte* out) noexcept {
  out = put_part(out, source.key);
  out = put_part(out, source.value);
  out = put_varint(out, static_cast<std::int64_t>(source.headers.size()));
  for (const header& entry : source.headers) {
    out = put_bytes(out, entry.key);
    out = put_part(out, entry.value);
  }
  return out;
}

void sealed_batch::write_header(bool transactional) {
  const auto attributes =
      static_cast<std::int16_t>(static_cast<int>(codec_) | (transactional ? transactional_bit : 0));
  bytes_.patch(
      0, header_of({bytes_.size(), attributes, count_, base_timestamp_, max_timestamp_, stamp_}));
}

void sealed_batch::write_checksum() {
  std::uint32_t sum = 0;
  bytes_.for_each([&](std::span<const std::byte> piece) { sum = crc32c(piece, sum); },
                  batch_checked_position);
  crc_ = sum;
  std::array<std::byte, 4> field;
  put_integer(field.data(), sum);
  bytes_.patch(crc_position, field);
}

void sealed_batch::restamp(const batch_stamp& stamp) {
  PARTITA_EXPECTS(count_ > 0, count_);
  stamp_ = stamp;
  std::array<std::byte, 14> fields;
  put_stamp(fields.data(), stamp);
  bytes_.patch(stamp_position, fields);
  write_checksum();
}

batch_builder::batch_builder(segment_pool* pool) : bytes_(pool) {}

void batch_builder::start(std::int64_t timestamp_ms) {
  base_timestamp_ = max_timestamp_ = timestamp_ms;
  append_blank_header(bytes_);
}

std::vector<std::byte> batch_builder::preview() const {
  PARTITA_EXPECTS(count_ > 0, count_);
  std::vector<std::byte> flat = bytes_.flatten();
  const auto header =
      header_of({flat.size(), 0, count_, base_timestamp_, max_timestamp_, batch_stamp::none()});
  std::memcpy(flat.data(), header.data(), header.size());
  return flat;
}

sealed_batch batch_builder::seal(const batch_stamp& stamp, codec which, int level,
                                 bool transactional) {
  PARTITA_EXPECTS(count_ > 0, count_);
  PARTITA_EXPECTS(levels_of(which).contains(level), static_cast<int>(which), level);
  sealed_batch batch;
  batch.stamp_ = stamp;
  batch.count_ = std::exchange(count_, 0);
  batch.base_timestamp_ = std::exchange(base_timestamp_, -1);
  batch.max_timestamp_ = std::exchange(max_timestamp_, -1);
  batch.uncompressed_size_ = bytes_.size();
  if (which != codec::none) {
    segment_chain packed(bytes_.pool());
    append_blank_header(packed);
    const std::error_code error = compress(which, level, bytes_, batch_header_size, packed);
    if (!error && packed.size() < bytes_.size()) {
      batch.codec_ = which;
      bytes_ = std::move(packed);
    }
  }
  batch.bytes_ = std::exchange(bytes_, segment_chain(bytes_.pool()));
  batch.write_header(transactional);
  batch.write_checksum();
  return batch;
}

}  // namespace partita::wire
