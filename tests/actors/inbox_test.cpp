#include "actors/inbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace partita::actors {
namespace {

struct numbered : command {
  int sender = 0;
  int number = 0;
};

std::vector<int> numbers(command_list list) {
  std::vector<int> read;
  while (command* node = list.pop_front()) read.push_back(static_cast<numbered*>(node)->number);
  return read;
}

TEST(Inbox, StartsIdleSoThatTheFirstPushWakesTheReader) {
  inbox queue;
  numbered first, second;

  EXPECT_EQ(queue.push(first), push_result::wake);
  EXPECT_EQ(queue.push(second), push_result::queued);
}

TEST(Inbox, HandsOutNodesInTheOrderOfTheirPushes) {
  inbox queue;
  numbered nodes[5];
  for (int i = 0; i < 5; ++i) {
    nodes[i].number = i;
    ASSERT_NE(queue.push(nodes[i]), push_result::closed);
  }

  EXPECT_EQ(numbers(queue.take_all()), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_TRUE(queue.take_all().empty());
}

TEST(Inbox, BlocksOnlyWhenItIsEmpty) {
  inbox queue;
  numbered node;
  ASSERT_EQ(queue.push(node), push_result::wake);

  EXPECT_FALSE(queue.try_block());
  ASSERT_EQ(queue.take_all().front(), &node);
  EXPECT_TRUE(queue.try_block());
  EXPECT_TRUE(queue.try_block()) << "a reader that was run without being woken is still idle";
  EXPECT_EQ(queue.push(node), push_result::wake);
}

TEST(Inbox, DoesNotWakeAReaderThatHasTakenAndNotBlocked) {
  inbox queue;
  numbered first, second;
  ASSERT_EQ(queue.push(first), push_result::wake);
  ASSERT_EQ(queue.take_all().front(), &first);

  EXPECT_EQ(queue.push(second), push_result::queued);
}

TEST(Inbox, ClosingReturnsWhatIsLeftAndRefusesTheRest) {
  inbox queue;
  numbered nodes[3];
  for (int i = 0; i < 3; ++i) {
    nodes[i].number = i;
    ASSERT_NE(queue.push(nodes[i]), push_result::closed);
  }

  EXPECT_EQ(numbers(queue.close()), (std::vector{0, 1, 2}));
  numbered late;
  EXPECT_EQ(queue.push(late), push_result::closed);
  EXPECT_TRUE(queue.closed());
  EXPECT_TRUE(queue.close().empty());
}

TEST(Inbox, ClosingAnIdleInboxReturnsNothing) {
  inbox queue;

  EXPECT_TRUE(queue.close().empty());
  EXPECT_TRUE(queue.closed());
}

TEST(Inbox, ADozingReaderIsWokenByWhatUsesUpItsPatience) {
  inbox queue;
  numbered nodes[4];
  for (int i = 0; i < 4; ++i) nodes[i].number = i;
  ASSERT_EQ(queue.push(nodes[0]), push_result::wake);
  ASSERT_EQ(queue.take_all().front(), &nodes[0]);
  ASSERT_TRUE(queue.try_doze(100));

  EXPECT_EQ(queue.push_patiently(nodes[1], 60), push_result::queued);
  EXPECT_EQ(queue.push_patiently(nodes[2], 60), push_result::wake);
  EXPECT_EQ(queue.push_patiently(nodes[3], 60), push_result::queued) << "it is awake";
  EXPECT_EQ(numbers(queue.take_all()), (std::vector{1, 2, 3}));
}

TEST(Inbox, ADozingReaderIsWokenByWhatCanNotWait) {
  inbox queue;
  numbered nodes[3];
  for (int i = 0; i < 3; ++i) nodes[i].number = i;
  ASSERT_EQ(queue.push(nodes[0]), push_result::wake);
  ASSERT_EQ(queue.take_all().front(), &nodes[0]);
  ASSERT_TRUE(queue.try_doze(100));
  ASSERT_EQ(queue.push_patiently(nodes[1], 1), push_result::queued);

  EXPECT_EQ(queue.push(nodes[2]), push_result::wake);
  EXPECT_EQ(numbers(queue.take_all()), (std::vector{1, 2})) << "and reads in the order of pushes";
}

TEST(Inbox, APatientPushWakesAReaderThatDoesNotDoze) {
  inbox queue;
  numbered first, second;

  EXPECT_EQ(queue.push_patiently(first, 1), push_result::wake);
  EXPECT_EQ(queue.push_patiently(second, 1), push_result::queued);
}

TEST(Inbox, DozesOnlyWhenItIsEmpty) {
  inbox queue;
  numbered node;
  ASSERT_EQ(queue.push(node), push_result::wake);

  EXPECT_FALSE(queue.try_doze(100));
  EXPECT_EQ(queue.take_all().front(), &node);
}

TEST(Inbox, TheEndOfADozeTellsWhetherSomethingLiesUnread) {
  inbox queue;
  numbered nodes[2];
  ASSERT_EQ(queue.push(nodes[0]), push_result::wake);
  EXPECT_FALSE(queue.end_doze(false)) << "it does not doze";
  ASSERT_EQ(queue.take_all().front(), &nodes[0]);
  ASSERT_TRUE(queue.try_doze(100));

  EXPECT_FALSE(queue.end_doze(false));
  ASSERT_EQ(queue.push_patiently(nodes[0], 1), push_result::wake) << "it is idle now";
  ASSERT_EQ(queue.take_all().front(), &nodes[0]);
  ASSERT_TRUE(queue.try_doze(100));
  ASSERT_EQ(queue.push_patiently(nodes[1], 1), push_result::queued);
  EXPECT_TRUE(queue.end_doze(false));
  EXPECT_EQ(queue.take_all().front(), &nodes[1]);
}

TEST(Inbox, ADozeEndsAlsoForWhatIsNotInTheInbox) {
  inbox queue;
  numbered nodes[2];
  ASSERT_EQ(queue.push(nodes[0]), push_result::wake);
  ASSERT_EQ(queue.take_all().front(), &nodes[0]);
  ASSERT_TRUE(queue.try_doze(100));

  EXPECT_TRUE(queue.end_doze(true));
  EXPECT_EQ(queue.push(nodes[1]), push_result::queued) << "the caller has scheduled it";
}

TEST(Inbox, WhatLiesUnreadCanBeTakenWithoutEndingTheDoze) {
  inbox queue;
  numbered nodes[3];
  for (int i = 0; i < 3; ++i) nodes[i].number = i;
  ASSERT_EQ(queue.push(nodes[0]), push_result::wake);
  ASSERT_EQ(queue.take_unread().front(), &nodes[0]) << "awake: as take_all()";
  ASSERT_TRUE(queue.try_doze(100));
  EXPECT_TRUE(queue.take_unread().empty());
  ASSERT_EQ(queue.push_patiently(nodes[0], 1), push_result::queued);
  ASSERT_EQ(queue.push_patiently(nodes[1], 1), push_result::queued);

  EXPECT_EQ(numbers(queue.take_unread()), (std::vector{0, 1}));
  EXPECT_EQ(queue.push_patiently(nodes[2], 1), push_result::queued);
  EXPECT_EQ(queue.push(nodes[0]), push_result::wake);
  EXPECT_EQ(numbers(queue.take_all()), (std::vector{2, 0}));
}

TEST(Inbox, ClosingReturnsWhatLiesUnread) {
  inbox queue;
  numbered nodes[2];
  ASSERT_EQ(queue.push(nodes[0]), push_result::wake);
  ASSERT_EQ(queue.take_all().front(), &nodes[0]);
  ASSERT_TRUE(queue.try_doze(100));
  ASSERT_EQ(queue.push_patiently(nodes[1], 1), push_result::queued);

  EXPECT_EQ(queue.close().front(), &nodes[1]);
  EXPECT_EQ(queue.push_patiently(nodes[0], 1), push_result::closed);
}

class InboxContention : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Inbox, InboxContention, testing::Bool(),
                         [](const auto& each) { return each.param ? "Dozing" : "Idle"; });

TEST_P(InboxContention, KeepsEverySendersOrderAndLosesNothing) {
  constexpr int senders = 4;
  constexpr int each = 20'000;
  inbox queue;
  std::atomic<int> wakes{0};
  std::vector<std::unique_ptr<numbered[]>> nodes;
  for (int s = 0; s < senders; ++s) nodes.push_back(std::make_unique<numbered[]>(each));

  std::vector<std::thread> threads;
  for (int s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      for (int i = 0; i < each; ++i) {
        auto& node = nodes[static_cast<std::size_t>(s)][static_cast<std::size_t>(i)];
        node.sender = s;
        node.number = i;
        const bool waits = GetParam() && i % 64 != 63;
        if ((waits ? queue.push_patiently(node, 1) : queue.push(node)) == push_result::wake)
          wakes.fetch_add(1);
      }
    });
  // The reader blocks as often as it can; each block must be ended by exactly one wake.
  int expected[senders] = {};
  int read = 0;
  int blocks = 1;  // it starts idle
  int disordered = 0;
  while (read < senders * each) {
    while (wakes.load() < blocks) std::this_thread::yield();
    command_list taken = queue.take_all();
    while (command* node = taken.pop_front()) {
      auto* what = static_cast<numbered*>(node);
      disordered += what->number != expected[what->sender]++ ? 1 : 0;
      ++read;
    }
    if (GetParam() ? queue.try_doze(20) : queue.try_block()) ++blocks;
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(disordered, 0);
  EXPECT_EQ(read, senders * each);
  EXPECT_EQ(wakes.load(), blocks - 1) << "one wake for each block but the last";
}

TEST(NodeList, AppendsListsBehindWhatItHolds) {
  command_list list, other;
  numbered nodes[4];
  for (int i = 0; i < 4; ++i) nodes[i].number = i;
  list.push_back(nodes[0]);
  other.push_back(nodes[1]);
  other.push_back(nodes[2]);
  list.append(other);
  list.append({});
  list.push_back(nodes[3]);

  EXPECT_EQ(numbers(list), (std::vector{0, 1, 2, 3}));
}

TEST(NodeList, WaitsForTheLinkThatAPusherStillOwes) {
  numbered nodes[3];
  for (int i = 0; i < 3; ++i) nodes[i].number = i;
  nodes[1].next = &nodes[2];
  command_list list{nodes[0], nodes[2]};
  std::atomic<bool> waits{false};
  std::thread pusher([&] {
    while (!waits.load()) std::this_thread::yield();
    std::atomic_ref<command*>(nodes[0].next).store(&nodes[1], std::memory_order_release);
  });
  waits.store(true);

  EXPECT_EQ(numbers(list), (std::vector{0, 1, 2}));
  pusher.join();
}

}  // namespace
}  // namespace partita::actors
