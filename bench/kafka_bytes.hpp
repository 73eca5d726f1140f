// Kafka's primitive types, for the programs here that stand in for a broker or a client.
//
// It shares no code with the library: a fault there must not cancel out in its own benchmarks.
//
// Threads: none.
#pragma once

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace partita::bench {

/// Big-endian values out of a frame; sticky error.
class reader {
 public:
  reader(const char* begin, std::size_t size) : at_(begin), end_(begin + size) {}
  bool failed() const { return failed_; }

  std::int8_t i8() { return number<std::int8_t>(); }
  std::int16_t i16() { return static_cast<std::int16_t>(be16toh(number<std::uint16_t>())); }
  std::int32_t i32() { return static_cast<std::int32_t>(be32toh(number<std::uint32_t>())); }
  std::int64_t i64() { return static_cast<std::int64_t>(be64toh(number<std::uint64_t>())); }

  std::uint32_t uvarint() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const auto next = number<std::uint8_t>();
      value |= static_cast<std::uint32_t>(next & 0x7fU) << shift;
      if ((next & 0x80U) == 0) return value;
    }
    failed_ = true;
    return 0;
  }
  /// -1 for null.
  std::int64_t length(bool flexible, bool is_string) {
    if (flexible) return std::int64_t{uvarint()} - 1;
    return is_string ? std::int64_t{i16()} : std::int64_t{i32()};
  }
  std::string_view string(bool flexible) { return raw(length(flexible, true)); }
  std::string_view bytes(bool flexible) { return raw(length(flexible, false)); }
  std::string_view raw(std::int64_t size) {
    if (size <= 0) return {};
    if (size > end_ - at_) {
      failed_ = true;
      at_ = end_;
      return {};
    }
    const std::string_view found(at_, static_cast<std::size_t>(size));
    at_ += size;
    return found;
  }
  void tags(bool flexible) {
    if (!flexible) return;
    for (std::uint32_t left = uvarint(); left > 0 && !failed_; --left) {
      uvarint();
      raw(uvarint());
    }
  }

 private:
  template <class Number>
  Number number() {
    Number value{};
    if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof value)) {
      failed_ = true;
      at_ = end_;
      return {};
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

/// The other way round, at the end of a buffer.
class writer {
 public:
  explicit writer(std::string& out, bool flexible = false) : out_(out), flexible_(flexible) {}

  void i8(std::int8_t value) { out_.push_back(static_cast<char>(value)); }
  void i16(std::int16_t value) { number(htobe16(static_cast<std::uint16_t>(value))); }
  void i32(std::int32_t value) { number(htobe32(static_cast<std::uint32_t>(value))); }
  void i64(std::int64_t value) { number(htobe64(static_cast<std::uint64_t>(value))); }
  void uvarint(std::size_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  /// A record's length: zig-zag, of what is not negative.
  void record_length(std::size_t value) { uvarint(value << 1); }
  void raw(std::string_view bytes) { out_.append(bytes); }
  void string(std::string_view text) {
    length(text.size(), true);
    out_.append(text);
  }
  void null_string() { flexible_ ? i8(0) : i16(-1); }
  void count(std::size_t elements) { length(elements, false); }
  void tags() {
    if (flexible_) i8(0);
  }

 private:
  void length(std::size_t value, bool is_string) {
    if (flexible_) return uvarint(value + 1);
    is_string ? i16(static_cast<std::int16_t>(value)) : i32(static_cast<std::int32_t>(value));
  }
  template <class Number>
  void number(Number value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string& out_;
  bool flexible_;
};

}  // namespace partita::bench
