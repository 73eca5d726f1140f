#include "wire/compression.hpp"

#include "tests/wire/hex.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <random>

namespace partita::wire {
namespace {

constexpr codec real_codecs[] = {codec::gzip, codec::snappy, codec::lz4, codec::zstd};

segment_chain chain_of(std::span<const std::byte> bytes) {
  segment_chain chain;
  chain.append(bytes);
  return chain;
}

std::vector<std::byte> packed(codec which, int level, std::span<const std::byte> bytes) {
  segment_chain out;
  const std::error_code error = compress(which, level, chain_of(bytes), 0, out);
  EXPECT_FALSE(error) << error.message();
  return out.flatten();
}

std::vector<std::byte> text(std::size_t size, unsigned seed) {
  std::mt19937 draw(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(draw() % 50 == 0 ? draw() : 'a' + draw() % 3);
  return bytes;
}

TEST(Compression, RoundTripsEverySizeAroundTheBorders) {
  for (const codec which : {codec::none, codec::gzip, codec::snappy, codec::lz4, codec::zstd}) {
    const int preset = levels_of(which).preset;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{100}, segment_capacity - 1, segment_capacity,
          segment_capacity + 1, std::size_t{32768}, std::size_t{32769}, std::size_t{65536},
          std::size_t{65537}, std::size_t{1000000}}) {
      const auto content = text(size, 7);
      const auto small = packed(which, preset, content);
      const auto back = decompress(which, small, size);
      EXPECT_FALSE(back.error) << static_cast<int>(which) << " " << size << back.error.message();
      EXPECT_EQ(back.bytes, content) << static_cast<int>(which) << " " << size;
    }
  }
}

TEST(Compression, EveryLevelRoundTrips) {
  const auto content = text(70000, 8);
  for (const codec which : real_codecs) {
    const level_range levels = levels_of(which);
    const int first = which == codec::zstd ? -5 : levels.first;
    const int last = which == codec::zstd ? 19 : levels.last;
    for (int level = first; level <= last; ++level) {
      const auto back = decompress(which, packed(which, level, content), content.size());
      EXPECT_FALSE(back.error);
      EXPECT_EQ(back.bytes, content) << static_cast<int>(which) << " level " << level;
    }
  }
}

TEST(Compression, StartsWhereItIsTold) {
  const auto content = text(50000, 9);
  const segment_chain chain = chain_of(content);
  for (const codec which : real_codecs) {
    for (const std::size_t from : {std::size_t{61}, segment_capacity, std::size_t{40000}}) {
      segment_chain out;
      ASSERT_FALSE(compress(which, levels_of(which).preset, chain, from, out));
      EXPECT_EQ(decompress(which, out.flatten(), content.size()).bytes, chain.flatten(from));
    }
  }
}

TEST(Compression, AppendsBehindWhatIsThere) {
  const auto content = text(5000, 10);
  for (const codec which : real_codecs) {
    segment_chain out;
    out.append(as_bytes("header"));
    ASSERT_FALSE(compress(which, levels_of(which).preset, chain_of(content), 0, out));
    const auto bytes = out.flatten();
    EXPECT_EQ(to_hex(std::span(bytes).first(6)), to_hex(as_bytes("header")));
    EXPECT_EQ(decompress(which, std::span(bytes).subspan(6), 5000).bytes, content);
  }
}

TEST(Compression, NeverMakesMoreThanTheLimit) {
  const std::vector<std::byte> zeros(20 << 20);
  for (const codec which : real_codecs) {
    const auto bomb = packed(which, levels_of(which).preset, zeros);
    for (const std::size_t limit :
         {std::size_t{0}, std::size_t{1}, std::size_t{65536}, zeros.size() - 1}) {
      const auto result = decompress(which, bomb, limit);
      EXPECT_EQ(result.error, client_errc::answer_too_large)
          << static_cast<int>(which) << " " << limit;
      EXPECT_LE(result.bytes.capacity(), limit) << static_cast<int>(which);
    }
    EXPECT_FALSE(decompress(which, bomb, zeros.size()).error);
  }
}

TEST(Compression, EveryTruncationIsRefused) {
  const auto content = text(3000, 11);
  for (const codec which : real_codecs) {
    const auto whole = packed(which, levels_of(which).preset, content);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto result = decompress(which, std::span(whole).first(length), 1 << 20);
      // Framing without a block is empty data, not a cut: the record count finds it.
      if (which == codec::snappy && length == 16) continue;
      EXPECT_TRUE(result.error) << static_cast<int>(which) << " cut to " << length;
    }
  }
}

TEST(Compression, BytesBehindTheEndAreRefused) {
  for (const codec which : real_codecs) {
    auto whole = packed(which, levels_of(which).preset, text(3000, 12));
    whole.push_back(std::byte{0x5a});
    EXPECT_TRUE(decompress(which, whole, 1 << 20).error) << static_cast<int>(which);
  }
}

TEST(Compression, LengthsThatTheDataStatesAreNotBelieved) {
  // A raw snappy block that claims 1 GiB, and a zstd frame that claims a window of 2 GiB.
  const auto snappy_lie = from_hex(
      "8080808004"
      "0061");
  EXPECT_EQ(decompress(codec::snappy, snappy_lie, std::size_t{2} << 30).error,
            client_errc::corrupt_data);
  const auto zstd_lie = from_hex(
      "28b52ffd"
      "00"
      "a8"
      "0b0000"
      "61");
  EXPECT_EQ(decompress(codec::zstd, zstd_lie, std::size_t{1} << 20).error,
            client_errc::corrupt_data);
}

TEST(Snappy, WritesXerialFramingInBlocksOf32KiB) {
  const auto whole = packed(codec::snappy, 0, text(32768 + 10, 13));
  EXPECT_EQ(to_hex(std::span(whole).first(16)), "82534e41505059000000000100000001");
  std::size_t at = 16;
  std::size_t blocks = 0;
  while (at < whole.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | static_cast<std::size_t>(whole[at + i]);
    at += 4 + length;
    ++blocks;
  }
  EXPECT_EQ(at, whole.size());
  EXPECT_EQ(blocks, 2u);
}

TEST(Snappy, ReadsOneRawBlock) {
  // Length 3, literal of 3 bytes.
  const auto result = decompress(codec::snappy, from_hex("0308616263"), 100);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(to_hex(result.bytes), "616263");
}

TEST(Lz4, FrameHeaderIsWhatJavaReaderAccepts) {
  const auto whole = packed(codec::lz4, 0, text(200000, 14));
  EXPECT_EQ(to_hex(std::span(whole).first(4)), "04224d18");
  const auto flags = static_cast<unsigned>(whole[4]);
  EXPECT_EQ(flags >> 6, 1u);                                // version
  EXPECT_NE(flags & 0x20, 0u);                              // independent blocks
  EXPECT_EQ(flags & 0x10, 0u);                              // no block checksums
  EXPECT_EQ(flags & 0x04, 0u);                              // no content checksum
  EXPECT_EQ(flags & 0x03, 0u);                              // reserved, dictionary
  EXPECT_EQ(to_hex(std::span(whole).subspan(5, 1)), "40");  // blocks of 64 KiB
}

TEST(Gzip, ReadsSeveralMembers) {
  auto first = packed(codec::gzip, 6, as_bytes("abc"));
  const auto second = packed(codec::gzip, 1, as_bytes("def"));
  first.insert(first.end(), second.begin(), second.end());
  const auto result = decompress(codec::gzip, first, 6);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(to_hex(result.bytes), to_hex(as_bytes("abcdef")));
}

}  // namespace
}  // namespace partita::wire
