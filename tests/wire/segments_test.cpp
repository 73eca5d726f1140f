#include "wire/segments.hpp"

#include "tests/wire/hex.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace partita::wire {
namespace {

std::vector<std::byte> numbered(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

TEST(SegmentChain, KeepsBytesAcrossBlocks) {
  segment_pool pool;
  std::mt19937 draw(3);
  for (int round = 0; round < 50; ++round) {
    segment_chain chain(round % 2 == 0 ? &pool : nullptr);
    const auto expected = numbered(draw() % (4 * segment_bytes));
    std::size_t at = 0;
    while (at < expected.size()) {
      const std::size_t piece = std::min<std::size_t>(1 + draw() % 5000, expected.size() - at);
      chain.append(expected.data() + at, piece);
      at += piece;
    }
    EXPECT_EQ(chain.size(), expected.size());
    EXPECT_EQ(chain.flatten(), expected);
    const std::size_t from = expected.empty() ? 0 : draw() % expected.size();
    EXPECT_EQ(chain.flatten(from),
              std::vector<std::byte>(expected.begin() + static_cast<std::ptrdiff_t>(from),
                                     expected.end()));
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(SegmentChain, HandedOutBytesDoNotMove) {
  segment_chain chain;
  chain.append(as_bytes("first"));
  const std::byte* first = nullptr;
  chain.for_each([&](std::span<const std::byte> piece) {
    if (first == nullptr) first = piece.data();
  });
  chain.append(numbered(3 * segment_bytes));
  segment_chain moved(std::move(chain));
  const std::byte* later = nullptr;
  moved.for_each([&](std::span<const std::byte> piece) {
    if (later == nullptr) later = piece.data();
  });
  EXPECT_EQ(first, later);
  EXPECT_EQ(chain.size(), 0u);  // NOLINT: a moved-from chain is empty
}

TEST(SegmentChain, PreparedRoomIsContiguousAndCommitKeepsWhatWasWritten) {
  segment_chain chain;
  chain.append(numbered(segment_capacity - 3));
  std::byte* const room = chain.prepare(8);
  EXPECT_GE(chain.room(), 8u);
  std::memset(room, 0x5a, 8);
  chain.commit(room + 5);
  auto expected = numbered(segment_capacity - 3);
  expected.insert(expected.end(), 5, std::byte{0x5a});
  EXPECT_EQ(chain.flatten(), expected);
  EXPECT_EQ(chain.footprint(), 2 * segment_bytes);
}

TEST(SegmentChain, LentMemoryIsTakenInWithoutACopyAndToldOfOnce) {
  static int told;
  told = 0;
  const auto lent = numbered(3 * segment_bytes);
  lent_segment piece(lent, [](lent_segment&) noexcept { ++told; });
  segment_pool pool;
  std::vector<std::byte> expected;
  const auto expect = [&expected](std::span<const std::byte> bytes) {
    expected.insert(expected.end(), bytes.begin(), bytes.end());
  };
  {
    segment_chain chain(&pool);
    chain.append(as_bytes("before"));
    chain.lend(piece);
    chain.append(as_bytes("behind"));
    expect(as_bytes("before"));
    expect(lent);
    expect(as_bytes("behind"));
    EXPECT_EQ(chain.size(), expected.size());
    EXPECT_EQ(chain.flatten(), expected);
    EXPECT_EQ(chain.flatten(10), std::vector<std::byte>(expected.begin() + 10, expected.end()));
    std::vector<const std::byte*> pieces;
    chain.for_each([&](std::span<const std::byte> each) { pieces.push_back(each.data()); });
    ASSERT_EQ(pieces.size(), 3u);
    EXPECT_EQ(pieces[1], lent.data());
    chain.patch(0, as_bytes("BEFORE"));
    std::vector<std::byte> read(12);
    chain.read(expected.size() - 12, read);
    EXPECT_EQ(read, std::vector<std::byte>(expected.end() - 12, expected.end()));
    EXPECT_EQ(told, 0);
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(SegmentChain, LentMemoryIsNeverWrittenTo) {
  const auto lent = numbered(100);
  lent_segment piece(lent, [](lent_segment&) noexcept {});
  segment_chain chain;
  chain.lend(piece);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(chain.patch(0, as_bytes("x")), "lent");
}

TEST(SegmentChain, PatchAndReadCrossBlockBorders) {
  segment_chain chain;
  auto expected = numbered(3 * segment_bytes);
  chain.append(expected);
  const auto patch = as_bytes("patched over a border");
  for (const std::size_t at : {std::size_t{0}, segment_capacity - 4, 2 * segment_capacity - 1,
                               expected.size() - patch.size()}) {
    chain.patch(at, patch);
    std::copy(patch.begin(), patch.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<std::byte> read(patch.size());
    chain.read(at, read);
    EXPECT_EQ(to_hex(read), to_hex(patch)) << at;
  }
  EXPECT_EQ(chain.flatten(), expected);
}

TEST(SegmentPool, GivesTheLastUsedBlockFirst) {
  segment_pool pool;
  segment* const first = pool.take();
  segment* const second = pool.take();
  EXPECT_EQ(pool.outstanding(), 2u);
  pool.give_back(first);
  pool.give_back(second);
  EXPECT_EQ(pool.outstanding(), 0u);
  EXPECT_EQ(pool.free_blocks(), 2u);
  segment* const again = pool.take();
  EXPECT_EQ(again, second);
  pool.give_back(again);
}

TEST(SegmentPool, KeepsAtMostTheConfiguredNumberOfBlocks) {
  segment_pool pool(3);
  {
    segment_chain chain(&pool);
    chain.append(numbered(10 * segment_bytes));
    EXPECT_GE(pool.outstanding(), 10u);
  }
  EXPECT_EQ(pool.free_blocks(), 3u);
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(SegmentPool, ReusesBlocksWithoutGrowing) {
  segment_pool pool;
  for (int round = 0; round < 100; ++round) {
    segment_chain chain(&pool);
    chain.append(numbered(2 * segment_bytes));
  }
  EXPECT_EQ(pool.free_blocks(), 3u);
}

}  // namespace
}  // namespace partita::wire
