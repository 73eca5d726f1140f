#include "actors/record_node.hpp"

#include "wire/record_batch.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace partita::actors {
namespace {

record_node* filled_node(std::uint32_t tail_size, unsigned char pattern) {
  record_node* node = allocate_record_node(tail_size);
  std::memset(node->writable_tail().data(), pattern, tail_size);
  return node;
}

bool holds(const record_node& node, unsigned char pattern) {
  for (const std::byte each : node.tail())
    if (each != std::byte{pattern}) return false;
  return true;
}

std::size_t chunks_in_use() {
  const auto now = chunk_statistics_now();
  return now.live - now.free;
}

TEST(RecordNode, CarriesTheEncodedTail) {
  const header headers[] = {{"trace", "abc"}, {"empty", std::nullopt}};
  const record what{.topic = "t", .key = "key", .value = "value", .headers = headers};
  const auto size = static_cast<std::uint32_t>(wire::record_tail_size(what));

  record_node* node = make_record_node(what, size);

  std::vector<std::byte> expected(size);
  wire::encode_record_tail(what, expected.data());
  ASSERT_NE(node, nullptr);
  EXPECT_TRUE(
      std::equal(expected.begin(), expected.end(), node->tail().begin(), node->tail().end()));
  EXPECT_EQ(node->kind, command_kind::record);
  EXPECT_EQ(node->weight, record_cost(size));
  release_record_node(*node);
}

TEST(RecordNode, LargeRecordsGetMemoryOfTheirOwn) {
  const auto in_use = chunks_in_use();

  record_node* node = filled_node(100'000, 0x5a);

  EXPECT_EQ(chunks_in_use(), in_use);
  EXPECT_TRUE(holds(*node, 0x5a));
  release_record_node(*node);
}

TEST(RecordNode, ALentTailLivesUntilNodeAndBatchHaveBothLetGo) {
  for (const bool node_first : {true, false}) {
    record_node* node = filled_node(100'000, 0x5a);
    const std::byte* const tail = node->tail().data();
    wire::segment_chain chain;
    chain.lend(lend_tail(*node));
    if (node_first) {
      release_record_node(*node);
      chain.for_each([&](std::span<const std::byte> piece) {
        EXPECT_EQ(piece.data(), tail);
        EXPECT_EQ(piece.size(), 100'000U);
        EXPECT_EQ(piece.back(), std::byte{0x5a});
      });
      chain.clear();
    } else {
      chain.clear();
      EXPECT_TRUE(holds(*node, 0x5a));
      release_record_node(*node);
    }
  }
}

// A node's flags carry the code of a refusal and nothing else: where its memory lies once shared
// them, so that large records were refused and refused ones freed what they did not own.
TEST(RecordNode, FlagsBelongToTheRefusalWhateverTheSize) {
  for (const std::uint32_t size : {0U, 100U, 60'000U, 200'000U}) {
    record_node* node = allocate_record_node(size);
    ASSERT_NE(node, nullptr);
    EXPECT_EQ(node->flags, 0) << size;
    node->flags = static_cast<std::uint16_t>(client_errc::record_too_large);
    release_record_node(*node);
  }
}

TEST(RecordNode, NeighboursDoNotShareBytes) {
  std::vector<record_node*> nodes;
  for (unsigned i = 0; i < 3000; ++i)
    nodes.push_back(filled_node(i % 300, static_cast<unsigned char>(i)));

  for (unsigned i = 0; i < nodes.size(); ++i) {
    EXPECT_TRUE(holds(*nodes[i], static_cast<unsigned char>(i))) << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(nodes[i]) % alignof(record_node), 0U);
  }
  record_releaser releaser;
  for (auto* node : nodes) releaser.release(*node);
}

TEST(RecordNode, ChunksComeBackWhenTheirLastNodeIsReleased) {
  std::thread([] {
    const auto in_use = chunks_in_use();
    std::vector<record_node*> nodes;
    for (int i = 0; i < 2000; ++i) nodes.push_back(filled_node(200, 1));
    EXPECT_GT(chunks_in_use(), in_use + 5);
    {
      record_releaser releaser;
      for (auto* node : nodes) releaser.release(*node);
    }
    leave_current_chunk();
    EXPECT_EQ(chunks_in_use(), in_use);
  }).join();
}

TEST(RecordNode, AThreadThatAlwaysKeepsUpUsesOneChunk) {
  std::thread([] {
    release_record_node(*filled_node(200, 1));
    const auto in_use = chunks_in_use();
    for (int i = 0; i < 10'000; ++i) release_record_node(*filled_node(200, 1));
    EXPECT_EQ(chunks_in_use(), in_use);
  }).join();
}

TEST(RecordNode, AThreadThatEndsLeavesNoChunkBehind) {
  const auto in_use = chunks_in_use();
  record_node* survivor = nullptr;
  std::thread([&] {
    release_record_node(*filled_node(10, 1));
    survivor = filled_node(10, 7);
  }).join();

  EXPECT_EQ(chunks_in_use(), in_use + 1);
  EXPECT_TRUE(holds(*survivor, 7));
  release_record_node(*survivor);
  EXPECT_EQ(chunks_in_use(), in_use);
}

TEST(RecordNode, NodesMadeByManyThreadsAreReleasedByAnother) {
  const auto in_use = chunks_in_use();
  std::mutex mutex;
  std::deque<record_node*> handed_over;
  constexpr int makers = 3;
  constexpr int each = 20'000;
  std::vector<std::thread> threads;
  for (unsigned m = 1; m <= makers; ++m)
    threads.emplace_back([&, m] {
      for (unsigned i = 0; i < each; ++i) {
        record_node* node = filled_node(20 + (i * m) % 180, static_cast<unsigned char>(m));
        node->data = m;
        const std::lock_guard lock(mutex);
        handed_over.push_back(node);
      }
    });
  int damaged = 0;
  int released = 0;
  while (released < makers * each) {
    std::deque<record_node*> taken;
    {
      const std::lock_guard lock(mutex);
      taken.swap(handed_over);
    }
    record_releaser releaser;
    for (record_node* node : taken) {
      damaged += holds(*node, static_cast<unsigned char>(node->data)) ? 0 : 1;
      releaser.release(*node);
      ++released;
    }
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(chunks_in_use(), in_use);
}

}  // namespace
}  // namespace partita::actors
