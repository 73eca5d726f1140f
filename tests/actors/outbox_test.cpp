#include "actors/outbox.hpp"

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>
#include <set>
#include <vector>

namespace partita::actors {
namespace {

struct partition : outbox_node {
  std::size_t next_batch = 0;  ///< what it would send now
  std::size_t waited = 0;      ///< picks since it was added
  std::size_t others = 0;      ///< how many waited before it then
};

std::size_t size_now(const outbox_node& node) {
  return static_cast<const partition&>(node).next_batch;
}

std::deque<partition> partitions_of(const std::vector<std::size_t>& sizes) {
  std::deque<partition> made(sizes.size());
  for (std::size_t at = 0; at < sizes.size(); ++at) made[at].next_batch = sizes[at];
  return made;
}

std::vector<outbox_node*> take_all(outbox_pick picked) {
  std::vector<outbox_node*> nodes;
  while (outbox_node* node = picked.pop()) nodes.push_back(node);
  return nodes;
}

using nodes = std::vector<outbox_node*>;

TEST(Outbox, TakesPartitionsInTheOrderInWhichTheyBecameReady) {
  auto made = partitions_of({10, 10, 10});
  outbox box;
  for (partition& each : made) box.add(each, 10);
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), (nodes{&made[0], &made[1], &made[2]}));
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.approximate_bytes(), 0u);
}

TEST(Outbox, GivesNothingWhenNothingIsReady) {
  outbox box;
  EXPECT_TRUE(box.pick({1000, 100}, size_now).empty());
}

TEST(Outbox, StartsTheNextRequestWhereTheLastOneStopped) {
  auto made = partitions_of({10, 10, 10, 10, 10});
  outbox box;
  for (partition& each : made) box.add(each, 10);
  std::vector<outbox_node*> order;
  for (int request = 0; request < 5; ++request)
    for (outbox_node* node : take_all(box.pick({20, 100}, size_now))) {
      order.push_back(node);
      box.add(*node, 10);
    }
  EXPECT_EQ(order, (nodes{&made[0], &made[1], &made[2], &made[3], &made[4], &made[0], &made[1],
                          &made[2], &made[3], &made[4]}));
}

TEST(Outbox, KeepsThePlaceOfAPartitionThatIsAddedAgain) {
  auto made = partitions_of({10, 10});
  outbox box;
  box.add(made[0], 10);
  box.add(made[1], 10);
  box.add(made[0], 30);
  EXPECT_EQ(box.size(), 2u);
  EXPECT_EQ(box.approximate_bytes(), 40u);
  EXPECT_EQ(take_all(box.pick({1000, 1}, size_now)), nodes{&made[0]});
}

TEST(Outbox, SendsABatchLargerThanTheLimitAlone) {
  auto made = partitions_of({5000, 10});
  outbox box;
  for (partition& each : made) box.add(each, 1);
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), nodes{&made[0]});
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), nodes{&made[1]});
}

TEST(Outbox, FillsTheRequestExactlyAndGoesByTheExactSize) {
  auto made = partitions_of({400, 600, 1});
  outbox box;
  for (partition& each : made) box.add(each, 1'000'000);
  outbox_pick picked = box.pick({1000, 100}, size_now);
  EXPECT_EQ(picked.bytes(), 1000u);
  EXPECT_EQ(take_all(std::move(picked)), (nodes{&made[0], &made[1]}));
  EXPECT_EQ(box.size(), 1u);
}

TEST(Outbox, PassesOverWhatDoesNotFitAndLetsItLeadTheNextRequest) {
  auto made = partitions_of({600, 900, 300, 50});
  outbox box;
  for (partition& each : made) box.add(each, 1);
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), (nodes{&made[0], &made[2], &made[3]}));
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), nodes{&made[1]});
}

TEST(Outbox, DropsAPartitionThatHasNothingToSendAnyMore) {
  auto made = partitions_of({0, 10});
  outbox box;
  for (partition& each : made) box.add(each, 10);
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), nodes{&made[1]});
  EXPECT_FALSE(made[0].waiting());
  EXPECT_EQ(box.approximate_bytes(), 0u);
}

TEST(Outbox, ForgetsARemovedPartition) {
  auto made = partitions_of({10, 10, 10});
  outbox box;
  for (partition& each : made) box.add(each, 10);
  box.remove(made[1]);
  box.remove(made[1]);
  EXPECT_EQ(box.size(), 2u);
  EXPECT_EQ(box.approximate_bytes(), 20u);
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), (nodes{&made[0], &made[2]}));
}

TEST(Outbox, FreesWhatWasPickedButNotPopped) {
  auto made = partitions_of({10, 10});
  outbox box;
  for (partition& each : made) box.add(each, 10);
  { const outbox_pick dropped = box.pick({1000, 100}, size_now); }
  EXPECT_TRUE(box.empty());
  box.add(made[0], 10);
  EXPECT_EQ(box.size(), 1u);
}

TEST(Outbox, RefusesToAddAPickedPartition) {
  testing::contract_guard guard;
  auto made = partitions_of({10});
  outbox box;
  box.add(made[0], 10);
  outbox_pick picked = box.pick({1000, 100}, size_now);
  EXPECT_THROW(box.add(made[0], 10), testing::broken_contract);
  EXPECT_THROW(box.remove(made[0]), testing::broken_contract);
}

TEST(Outbox, LooksAtAsManyPartitionsAsItTakesAndNotAtTenThousand) {
  std::deque<partition> made(10000);
  outbox box;
  for (partition& each : made) {
    each.next_batch = 100;
    box.add(each, 100);
  }
  std::size_t looked_at = 0;
  const auto counting = [&looked_at](const outbox_node& node) {
    ++looked_at;
    return size_now(node);
  };
  EXPECT_EQ(take_all(box.pick({2000, 100}, counting)).size(), 20u);
  EXPECT_EQ(looked_at, 20u);

  // Nothing behind the first fits: the search ends after a bounded number of tries.
  for (partition& each : made) each.next_batch = 1500;
  looked_at = 0;
  EXPECT_EQ(take_all(box.pick({2000, 100}, counting)).size(), 1u);
  EXPECT_EQ(looked_at, 1 + outbox::passed_over_max + 1);
}

TEST(Outbox, ServesEachOfTenThousandPartitionsOncePerRound) {
  std::deque<partition> made(10000);
  outbox box;
  for (partition& each : made) {
    each.next_batch = 100;
    box.add(each, 100);
  }
  for (int round = 0; round < 3; ++round) {
    std::set<outbox_node*> served;
    for (int request = 0; request < 100; ++request)
      for (outbox_node* node : take_all(box.pick({1'000'000, 100}, size_now))) {
        served.insert(node);
        box.add(*node, 100);
      }
    EXPECT_EQ(served.size(), 10000u);
  }
}

TEST(Outbox, StarvesNobodyWhateverTheSizes) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::deque<partition> made(1 + random() % 60);
    const outbox_limits limits{1 + random() % 3000, 1 + random() % 20};
    outbox box;
    const auto add = [&](partition& each) {
      if (each.waiting()) return;
      each.next_batch = 1 + random() % 2000;
      each.waited = 0;
      each.others = box.size();
      box.add(each, each.next_batch);
    };
    for (int request = 0; request < 300; ++request) {
      for (partition& each : made) {
        if (random() % 3 == 0) add(each);
        if (random() % 50 == 0) box.remove(each);
        if (random() % 50 == 0) each.next_batch = 0;
      }
      std::size_t looked_at = 0;
      std::size_t emptied = 0;
      outbox_pick picked = box.pick(limits, [&](const outbox_node& node) {
        ++looked_at;
        if (size_now(node) == 0) ++emptied;
        return size_now(node);
      });
      ASSERT_LE(picked.size(), limits.max_partitions);
      ASSERT_TRUE(picked.size() == 1 || picked.bytes() <= limits.max_request_bytes);
      ASSERT_TRUE(!picked.empty() || box.empty());
      ASSERT_LE(looked_at, limits.max_partitions + outbox::passed_over_max + 1 + emptied);
      const std::size_t bytes = picked.bytes();
      std::size_t sum = 0;
      std::set<outbox_node*> served;
      for (outbox_node* node : take_all(std::move(picked))) {
        ASSERT_TRUE(served.insert(node).second);
        sum += size_now(*node);
      }
      ASSERT_EQ(sum, bytes);
      for (partition& each : made) {
        if (!each.waiting()) continue;
        ASSERT_LE(++each.waited, each.others) << "seed " << seed;
      }
    }
    for (partition& each : made) box.remove(each);
    ASSERT_EQ(box.approximate_bytes(), 0u);
  }
}

// Those that linger

TEST(Outbox, GivesThoseThatLingerWhenAskedInTheirOrder) {
  auto made = partitions_of({10, 10, 10});
  outbox box;
  for (partition& each : made) box.let_linger(each);
  box.let_linger(made[0]);
  EXPECT_TRUE(box.empty());
  EXPECT_TRUE(box.any_lingering());
  EXPECT_TRUE(box.pick({1000, 100}, size_now).empty());
  for (partition& each : made) EXPECT_EQ(box.pop_lingering(), &each);
  EXPECT_EQ(box.pop_lingering(), nullptr);
}

TEST(Outbox, WhatIsReadyLingersNoLonger) {
  auto made = partitions_of({10, 10});
  outbox box;
  box.let_linger(made[0]);
  box.add(made[0], 10);
  box.let_linger(made[0]);
  box.let_linger(made[1]);
  box.remove(made[1]);
  EXPECT_FALSE(box.any_lingering());
  EXPECT_EQ(take_all(box.pick({1000, 100}, size_now)), nodes{&made[0]});
}

TEST(Outbox, WhatHasNothingToBringAlongLingersNoMore) {
  outbox box;
  outbox_node idle, ready;
  box.let_linger(idle);
  box.add(ready, 10);
  box.stop_lingering(idle);
  box.stop_lingering(ready);
  EXPECT_FALSE(box.any_lingering());
  EXPECT_TRUE(ready.waiting()) << "no effect elsewhere";
  box.remove(ready);
}

}  // namespace
}  // namespace partita::actors
