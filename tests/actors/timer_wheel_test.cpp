#include "actors/timer_wheel.hpp"

#include "actors/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

const instant start = instant{} + 1000h;

struct recorder {
  std::vector<int> fired;
};

struct numbered_timer {
  numbered_timer(recorder& into, int number)
      : number(number),
        node(
            [](timer_node& fired) noexcept {
              auto& self = *static_cast<numbered_timer*>(fired.owner);
              self.log.fired.push_back(self.number);
            },
            this),
        log(into) {}
  int number;
  timer_node node;
  recorder& log;
};

TEST(TimerWheel, FiresAtTheDeadlineAndNotBefore) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer timer(log, 1);
  wheel.arm(timer.node, start + 5ms);

  EXPECT_EQ(wheel.advance(start + 5ms - 1ns), 0U);
  EXPECT_TRUE(timer.node.armed());
  EXPECT_EQ(wheel.advance(start + 5ms), 1U);
  EXPECT_FALSE(timer.node.armed());
  EXPECT_EQ(log.fired, std::vector{1});
}

TEST(TimerWheel, RoundsFractionsOfAMillisecondUp) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer timer(log, 1);
  wheel.arm(timer.node, start + 300us);

  EXPECT_EQ(wheel.next_deadline(), start + 1ms);
  EXPECT_EQ(wheel.advance(start + 300us), 0U);
  EXPECT_EQ(wheel.advance(start + 1ms), 1U);
}

TEST(TimerWheel, ADeadlineThatHasPassedIsDueAtOnce) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer timer(log, 1);
  wheel.advance(start + 10s);
  wheel.arm(timer.node, start + 1s);

  EXPECT_LE(wheel.next_deadline(), start + 10s);
  EXPECT_EQ(wheel.advance(start + 10s), 1U);
}

TEST(TimerWheel, WithoutTimersItHasNoDeadline) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer timer(log, 1);

  EXPECT_EQ(wheel.next_deadline(), never);
  wheel.arm(timer.node, start + 1h);
  EXPECT_NE(wheel.next_deadline(), never);
  wheel.cancel(timer.node);
  EXPECT_EQ(wheel.next_deadline(), never);
  EXPECT_EQ(wheel.size(), 0U);
}

TEST(TimerWheel, ArmingForNeverIsCancelling) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer timer(log, 1);
  wheel.arm(timer.node, start + 1ms);
  wheel.arm(timer.node, never);

  EXPECT_FALSE(timer.node.armed());
  EXPECT_EQ(wheel.advance(start + 1h), 0U);
}

TEST(TimerWheel, AStepOverManyTimersFiresThemInTheirOrder) {
  timer_wheel wheel(start);
  recorder log;
  std::vector<std::unique_ptr<numbered_timer>> timers;
  const int delays[] = {70'000, 3, 64, 65, 4096, 1, 300, 262'144, 63};
  for (const int delay : delays) {
    timers.push_back(std::make_unique<numbered_timer>(log, delay));
    wheel.arm(timers.back()->node, start + std::chrono::milliseconds(delay));
  }

  wheel.advance(start + 24h);

  std::vector<int> sorted(std::begin(delays), std::end(delays));
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(log.fired, sorted);
}

TEST(TimerWheel, TheLimitLeavesTheRestForTheNextCall) {
  timer_wheel wheel(start);
  recorder log;
  std::vector<std::unique_ptr<numbered_timer>> timers;
  for (int i = 0; i < 5; ++i) {
    timers.push_back(std::make_unique<numbered_timer>(log, i));
    wheel.arm(timers.back()->node, start + 2ms);
  }

  EXPECT_EQ(wheel.advance(start + 2ms, 3), 3U);
  EXPECT_LE(wheel.next_deadline(), start + 2ms);
  EXPECT_EQ(wheel.advance(start + 2ms, 3), 2U);
  EXPECT_EQ(log.fired, (std::vector{0, 1, 2, 3, 4}));
}

struct rearming {
  timer_wheel& wheel;
  int fired = 0;
  timer_node node{[](timer_node& due) noexcept {
                    auto& self = *static_cast<rearming*>(due.owner);
                    ++self.fired;
                    self.wheel.arm(self.node, start);
                  },
                  this};
};

TEST(TimerWheel, ATimerThatRearmsItselfInThePastDoesNotHoldTheCall) {
  timer_wheel wheel(start);
  rearming timer{wheel};
  wheel.arm(timer.node, start + 1ms);

  EXPECT_EQ(wheel.advance(start + 1s), 1U);
  EXPECT_EQ(wheel.advance(start + 1s), 1U);
  EXPECT_EQ(timer.fired, 2);
  wheel.cancel(timer.node);
}

struct cancelling {
  timer_wheel& wheel;
  timer_node* other = nullptr;
  timer_node node{[](timer_node& due) noexcept {
                    auto& self = *static_cast<cancelling*>(due.owner);
                    self.wheel.cancel(*self.other);
                  },
                  this};
};

TEST(TimerWheel, ACallbackCanCancelATimerThatIsDueInTheSameCall) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer victim(log, 1);
  cancelling first{wheel, &victim.node};
  wheel.arm(first.node, start + 1ms);
  wheel.arm(victim.node, start + 2ms);

  EXPECT_EQ(wheel.advance(start + 5ms), 1U);
  EXPECT_TRUE(log.fired.empty());
  EXPECT_EQ(wheel.size(), 0U);
}

// A sorted model: after each step exactly the timers whose millisecond has come have fired.
class TimerWheelModel : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TimerWheelModel, AgreesWithASortedModel) {
  random_source random(GetParam());
  timer_wheel wheel(start);
  recorder log;
  std::vector<std::unique_ptr<numbered_timer>> timers;
  for (int i = 0; i < 200; ++i) timers.push_back(std::make_unique<numbered_timer>(log, i));
  std::map<int, std::int64_t> armed;  // number -> millisecond, rounded up
  std::int64_t now_us = 0;

  for (int step = 0; step < 3000; ++step) {
    const int number = static_cast<int>(random.below(timers.size()));
    auto& node = timers[static_cast<std::size_t>(number)]->node;
    switch (random.below(4)) {
      case 0:
      case 1: {
        const std::uint64_t reach = std::uint64_t{1} << random.below(34);
        const auto deadline_us = now_us + static_cast<std::int64_t>(random.below(reach));
        wheel.arm(node, start + std::chrono::microseconds(deadline_us));
        armed[number] = (deadline_us + 999) / 1000;
        break;
      }
      case 2:
        wheel.cancel(node);
        armed.erase(number);
        break;
      default: {
        now_us += static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(30)));
        log.fired.clear();
        wheel.advance(start + std::chrono::microseconds(now_us));
        std::set<int> expected;
        for (auto it = armed.begin(); it != armed.end();)
          if (it->second <= now_us / 1000) {
            expected.insert(it->first);
            it = armed.erase(it);
          } else {
            ++it;
          }
        ASSERT_EQ(std::set<int>(log.fired.begin(), log.fired.end()), expected) << "step " << step;
        ASSERT_EQ(log.fired.size(), expected.size());
      }
    }
    ASSERT_EQ(wheel.size(), armed.size());
    std::int64_t earliest = INT64_MAX;
    for (const auto& [timer, millisecond] : armed) earliest = std::min(earliest, millisecond);
    if (armed.empty())
      ASSERT_EQ(wheel.next_deadline(), never);
    else
      ASSERT_LE(wheel.next_deadline(), std::max(start + std::chrono::milliseconds(earliest),
                                                start + std::chrono::microseconds(now_us)));
  }
  for (auto& timer : timers) wheel.cancel(timer->node);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimerWheelModel, testing::Range<std::uint64_t>(1, 21));

TEST(TimerWheel, SleepingByItsDeadlinesNeedsAtMostOneWakeUpALevel) {
  timer_wheel wheel(start);
  recorder log;
  numbered_timer timer(log, 1);
  wheel.arm(timer.node, start + 120s);

  int wake_ups = 0;
  while (log.fired.empty()) {
    ASSERT_LE(wheel.next_deadline(), start + 120s);
    wheel.advance(wheel.next_deadline());
    ++wake_ups;
  }
  EXPECT_LE(wake_ups, 7);
}

}  // namespace
}  // namespace partita::actors
