// Base-128 varints: unsigned (compact lengths, tags) and zig-zag (inside records).
//
// Invariants
// 1. Reading never goes past `end`, and refuses encodings longer than the type or with bits
//    beyond it.
// 2. Writing needs at most varint32_size_max or varint64_size_max bytes; size and write agree.
//
// Threads: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace partita::wire {

inline constexpr std::size_t varint32_size_max = 5;
inline constexpr std::size_t varint64_size_max = 10;

constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

constexpr std::size_t uvarint_size(std::uint64_t value) noexcept {
  // ceil(bits / 7) without a division; exact for 1 to 64 bits.
  return (static_cast<std::size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}
constexpr std::size_t varint_size(std::int64_t value) noexcept {
  return uvarint_size(zigzag(value));
}

/// Writes and returns the position behind the last byte.
inline std::byte* put_uvarint(std::byte* out, std::uint64_t value) noexcept {
  while (value > 0x7f) {
    *out++ = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::byte>(value);
  return out;
}
inline std::byte* put_varint(std::byte* out, std::int64_t value) noexcept {
  return put_uvarint(out, zigzag(value));
}

namespace detail {
template <class Unsigned>
inline const std::byte* get_uvarint_bounded(const std::byte* at, const std::byte* end,
                                            Unsigned& value) noexcept {
  constexpr int bits = static_cast<int>(sizeof(Unsigned)) * 8;
  Unsigned result = 0;
  for (int shift = 0; at != end && shift < bits; shift += 7) {
    const auto byte = static_cast<Unsigned>(*at++);
    const auto low = static_cast<Unsigned>(byte & 0x7f);
    if (shift + 7 > bits && (low >> (bits - shift)) != 0) return nullptr;
    result |= static_cast<Unsigned>(low << shift);
    if ((byte & 0x80) == 0) {
      value = result;
      return at;
    }
  }
  return nullptr;
}
}  // namespace detail

/// Reads from [at, end) and returns the position behind it; null when cut short or out of range.
inline const std::byte* get_uvarint32(const std::byte* at, const std::byte* end,
                                      std::uint32_t& value) noexcept {
  return detail::get_uvarint_bounded(at, end, value);
}
inline const std::byte* get_uvarint64(const std::byte* at, const std::byte* end,
                                      std::uint64_t& value) noexcept {
  return detail::get_uvarint_bounded(at, end, value);
}
inline const std::byte* get_varint32(const std::byte* at, const std::byte* end,
                                     std::int32_t& value) noexcept {
  std::uint32_t raw = 0;
  at = get_uvarint32(at, end, raw);
  if (at != nullptr)
    value = static_cast<std::int32_t>(raw >> 1) ^ -static_cast<std::int32_t>(raw & 1);
  return at;
}
inline const std::byte* get_varint64(const std::byte* at, const std::byte* end,
                                     std::int64_t& value) noexcept {
  std::uint64_t raw = 0;
  at = get_uvarint64(at, end, raw);
  if (at != nullptr) value = unzigzag(raw);
  return at;
}

}  // namespace partita::wire
