#include "wire/crc32c.hpp"

#include "tests/wire/hex.hpp"

#include <gtest/gtest.h>

#include <random>

namespace partita::wire {
namespace {

/// Bit by bit, from the polynomial: slow, and nothing in common with the library's code.
std::uint32_t by_definition(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}

TEST(Crc32c, CheckValueOfTheStandard) { EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u); }

TEST(Crc32c, VectorsOfRfc3720) {
  std::vector<std::byte> bytes(32, std::byte{0});
  EXPECT_EQ(crc32c(bytes), 0x8a9136aau);
  bytes.assign(32, std::byte{0xff});
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43u);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46dd794eu);
}

TEST(Crc32c, OfNothingIsZero) { EXPECT_EQ(crc32c({}), 0u); }

TEST(Crc32c, DoesNotDependOnHowTheBytesAreCut) {
  std::mt19937 draw(4);
  std::vector<std::byte> bytes(5000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw());
  const std::uint32_t whole = by_definition(bytes);
  EXPECT_EQ(crc32c(bytes), whole);
  for (int round = 0; round < 200; ++round) {
    std::span<const std::byte> rest(bytes);
    std::uint32_t sum = 0;
    while (!rest.empty()) {
      const std::size_t piece = std::min<std::size_t>(1 + draw() % 700, rest.size());
      sum = crc32c(rest.first(piece), sum);
      rest = rest.subspan(piece);
    }
    EXPECT_EQ(sum, whole);
  }
}

}  // namespace
}  // namespace partita::wire
