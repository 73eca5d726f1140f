// Bytes from and to hexadecimal text, for tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::wire {

inline int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

/// Characters that are no digits (spaces, line ends) are skipped.
inline std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (const char character : text) {
    const int digit = hex_digit(character);
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit));
      high = -1;
    }
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[static_cast<unsigned>(byte) >> 4];
    text += digits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// The batch of the message format's published example: producer 4242, epoch 7, sequence 100, three
/// records; its checksum is right.
inline constexpr std::string_view example_batch_hex =
    "000000000000000000000056ffffffff02a3e6b7e40000000000020000018bcf"
    "e568000000018bcfe56805000000000000109200070000006400000003140000"
    "00046b310476310024000a02010a68656c6c6f0402680278026e010c00050400"
    "0100";

}  // namespace partita::wire
