#include "wire/varints.hpp"

#include "tests/wire/hex.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace partita::wire {
namespace {

std::string written(std::int64_t value) {
  std::byte bytes[varint64_size_max];
  const std::byte* const end = put_varint(bytes, value);
  return to_hex({bytes, static_cast<std::size_t>(end - bytes)});
}

TEST(Varints, ZigZagVectorsOfTheMessageFormat) {
  EXPECT_EQ(written(0), "00");
  EXPECT_EQ(written(-1), "01");
  EXPECT_EQ(written(1), "02");
  EXPECT_EQ(written(63), "7e");
  EXPECT_EQ(written(64), "8001");
  EXPECT_EQ(written(300), "d804");
  EXPECT_EQ(written(2147483647), "feffffff0f");
  EXPECT_EQ(written(-2147483648), "ffffffff0f");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::max()), "feffffffffffffffff01");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "ffffffffffffffffff01");
}

TEST(Varints, SizeIsWhatIsWritten) {
  std::mt19937_64 draw(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(draw() >> (draw() % 64));
    EXPECT_EQ(varint_size(value) * 2, written(value).size()) << value;
    EXPECT_EQ(varint_size(-value) * 2, written(-value).size()) << value;
  }
  for (int bits = 0; bits < 64; ++bits) {
    const std::uint64_t value = std::uint64_t{1} << bits;
    std::byte bytes[varint64_size_max];
    EXPECT_EQ(uvarint_size(value), static_cast<std::size_t>(put_uvarint(bytes, value) - bytes));
    EXPECT_EQ(uvarint_size(value - 1),
              static_cast<std::size_t>(put_uvarint(bytes, value - 1) - bytes));
  }
}

TEST(Varints, ReadsBackWhatWasWritten) {
  std::mt19937_64 draw(2);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(draw() >> (draw() % 64)) * (i % 2 == 0 ? 1 : -1);
    std::byte bytes[varint64_size_max];
    const std::byte* const end = put_varint(bytes, value);
    std::int64_t read = 0;
    EXPECT_EQ(get_varint64(bytes, end, read), end);
    EXPECT_EQ(read, value);
    if (value >= std::numeric_limits<std::int32_t>::min() &&
        value <= std::numeric_limits<std::int32_t>::max()) {
      std::int32_t narrow = 0;
      EXPECT_EQ(get_varint32(bytes, end, narrow), end);
      EXPECT_EQ(narrow, value);
    } else {
      std::int32_t narrow = 0;
      EXPECT_EQ(get_varint32(bytes, end, narrow), nullptr);
    }
  }
}

TEST(Varints, RefusesEveryTruncation) {
  const auto bytes = from_hex("ffffffffffffffffff01");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::uint64_t value = 0;
    EXPECT_EQ(get_uvarint64(bytes.data(), bytes.data() + length, value), nullptr) << length;
  }
}

TEST(Varints, RefusesBitsBeyondTheType) {
  std::uint32_t narrow = 0;
  const auto largest = from_hex("ffffffff0f");
  EXPECT_EQ(get_uvarint32(largest.data(), largest.data() + 5, narrow), largest.data() + 5);
  EXPECT_EQ(narrow, 0xffffffffu);
  for (const char* text : {"ffffffff1f", "ffffffff8f00", "808080808000"}) {
    const auto bytes = from_hex(text);
    EXPECT_EQ(get_uvarint32(bytes.data(), bytes.data() + bytes.size(), narrow), nullptr) << text;
  }
  std::uint64_t wide = 0;
  for (const char* text : {"ffffffffffffffffff03", "8080808080808080808000"}) {
    const auto bytes = from_hex(text);
    EXPECT_EQ(get_uvarint64(bytes.data(), bytes.data() + bytes.size(), wide), nullptr) << text;
  }
}

}  // namespace
}  // namespace partita::wire
