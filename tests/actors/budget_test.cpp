#include "actors/budget.hpp"

#include "actors/environment.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace partita::actors {
namespace {

struct waiter_log {
  std::vector<int> granted;
  std::vector<int> closed;
};

struct logged_waiter {
  logged_waiter(waiter_log& log, int number)
      : log(log),
        number(number),
        node(
            [](budget_waiter& waiter, grant answer) noexcept {
              auto& self = *static_cast<logged_waiter*>(waiter.owner);
              auto& list = answer == grant::granted ? self.log.granted : self.log.closed;
              list.push_back(self.number);
            },
            this) {}
  waiter_log& log;
  int number;
  budget_waiter node;
};

TEST(Budget, CountsWhatIsTakenAndReturned) {
  budget bytes(100);

  EXPECT_TRUE(bytes.try_take(60));
  EXPECT_TRUE(bytes.try_take(40));
  EXPECT_FALSE(bytes.try_take(1));
  bytes.give_back(10);
  EXPECT_EQ(bytes.available(), 10U);
  EXPECT_TRUE(bytes.try_take(10));
  bytes.give_back(100);
  EXPECT_EQ(bytes.taken(), 0U);
}

TEST(Budget, GrantsInTheOrderOfWaiting) {
  budget bytes(100);
  waiter_log log;
  logged_waiter first(log, 1), second(log, 2), third(log, 3);
  ASSERT_TRUE(bytes.try_take(100));
  ASSERT_EQ(bytes.take_or_wait(50, first.node), admission::waiting);
  ASSERT_EQ(bytes.take_or_wait(10, second.node), admission::waiting);
  ASSERT_EQ(bytes.take_or_wait(10, third.node), admission::waiting);

  bytes.give_back(40);
  EXPECT_TRUE(log.granted.empty()) << "a small request does not overtake a large one";
  bytes.give_back(20);
  EXPECT_EQ(log.granted, (std::vector{1, 2}));
  bytes.give_back(40);
  EXPECT_EQ(log.granted, (std::vector{1, 2, 3}));
  EXPECT_EQ(bytes.taken(), 70U);
}

TEST(Budget, NobodyOvertakesThoseWhoWait) {
  budget bytes(100);
  waiter_log log;
  logged_waiter patient(log, 1), late(log, 2);
  ASSERT_TRUE(bytes.try_take(60));
  ASSERT_EQ(bytes.take_or_wait(50, patient.node), admission::waiting);

  EXPECT_FALSE(bytes.try_take(1)) << "40 bytes are free, but somebody waits";
  EXPECT_EQ(bytes.take_or_wait(1, late.node), admission::waiting);
  bytes.give_back(60);

  EXPECT_EQ(log.granted, (std::vector{1, 2}));
  EXPECT_TRUE(bytes.try_take(49)) << "open again when nobody waits";
}

TEST(Budget, ACancelledWaiterHearsNothingAndLetsTheNextOnePass) {
  budget bytes(100);
  waiter_log log;
  logged_waiter large(log, 1), small(log, 2);
  ASSERT_TRUE(bytes.try_take(60));
  ASSERT_EQ(bytes.take_or_wait(90, large.node), admission::waiting);
  ASSERT_EQ(bytes.take_or_wait(10, small.node), admission::waiting);

  EXPECT_TRUE(bytes.cancel_wait(large.node));

  EXPECT_EQ(log.granted, std::vector{2});
  EXPECT_FALSE(bytes.cancel_wait(large.node));
  EXPECT_FALSE(bytes.cancel_wait(small.node)) << "it was granted";
  EXPECT_EQ(bytes.waiting(), 0U);
}

TEST(Budget, ClosingRefusesThoseWhoWaitAndThoseWhoCome) {
  budget bytes(100);
  waiter_log log;
  logged_waiter first(log, 1), second(log, 2), late(log, 3);
  ASSERT_TRUE(bytes.try_take(100));
  ASSERT_EQ(bytes.take_or_wait(1, first.node), admission::waiting);
  ASSERT_EQ(bytes.take_or_wait(1, second.node), admission::waiting);

  bytes.close();

  EXPECT_EQ(log.closed, (std::vector{1, 2}));
  EXPECT_EQ(bytes.take_or_wait(1, late.node), admission::closed);
  bytes.give_back(100);
  EXPECT_EQ(bytes.available(), 100U);
  EXPECT_FALSE(bytes.try_take(1));
}

struct returning_waiter {
  explicit returning_waiter(budget& bytes) : bytes(bytes) {}
  budget& bytes;
  int granted = 0;
  budget_waiter node{[](budget_waiter& waiter, grant) noexcept {
                       auto& self = *static_cast<returning_waiter*>(waiter.owner);
                       ++self.granted;
                       self.bytes.give_back(waiter.bytes);
                     },
                     this};
};

TEST(Budget, AGrantMayReturnBytesFromInsideItsCallback) {
  budget bytes(10);
  std::deque<returning_waiter> waiters;
  ASSERT_TRUE(bytes.try_take(10));
  for (int i = 0; i < 1000; ++i) {
    waiters.emplace_back(bytes);
    ASSERT_EQ(bytes.take_or_wait(10, waiters.back().node), admission::waiting);
  }

  bytes.give_back(10);

  for (const auto& waiter : waiters) EXPECT_EQ(waiter.granted, 1);
  EXPECT_EQ(bytes.available(), 10U);
}

struct blocking_waiter {
  std::atomic<bool> granted{false};
  budget_waiter node{[](budget_waiter& waiter, grant) noexcept {
                       auto& self = *static_cast<blocking_waiter*>(waiter.owner);
                       self.granted.store(true);
                       self.granted.notify_one();
                     },
                     this};
};

TEST(Budget, IsExactWithManyThreadsAndNobodyWaitsForEver) {
  constexpr std::uint64_t capacity = 1000;
  budget bytes(capacity);
  std::atomic<std::uint64_t> held{0};
  std::atomic<bool> overdrawn{false};
  std::vector<std::thread> threads;

  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    threads.emplace_back([&, seed] {
      random_source random(seed);
      for (int i = 0; i < 5000; ++i) {
        const std::uint64_t wanted = 1 + random.below(capacity / 2);
        blocking_waiter waiter;
        if (bytes.take_or_wait(wanted, waiter.node) == admission::waiting) {
          const bool cancelled = random.below(8) == 0 && bytes.cancel_wait(waiter.node);
          if (cancelled) continue;
          waiter.granted.wait(false);
        }
        if (held.fetch_add(wanted) + wanted > capacity) overdrawn = true;
        held.fetch_sub(wanted);
        bytes.give_back(wanted);
      }
    });
  for (auto& thread : threads) thread.join();

  EXPECT_FALSE(overdrawn);
  EXPECT_EQ(bytes.available(), capacity);
  EXPECT_EQ(bytes.waiting(), 0U);
}

}  // namespace
}  // namespace partita::actors
