#include "actors/lane.hpp"

#include "actors/lane_driver_simulated.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

struct simulated_lane {
  explicit simulated_lane(lane_options options = {}) : under_test(driver, with_clock(options)) {
    driver.start(under_test);
  }
  ~simulated_lane() { driver.request_end(); }
  lane_options with_clock(lane_options options) {
    options.clock = &clock;
    return options;
  }
  void run_until_idle() {
    while (driver.due() <= clock.now()) driver.step();
  }

  virtual_clock clock;
  simulated_driver driver;
  lane under_test;
};

TEST(Lane, AnIdleLaneIsNotWokenAndWantsNoTime) {
  simulated_lane sim;
  sim.run_until_idle();
  const auto wake_ups = sim.driver.wake_ups();

  EXPECT_EQ(sim.driver.due(), never);
  sim.clock.advance_to(sim.clock.now() + 24h);
  EXPECT_EQ(sim.driver.due(), never);
  EXPECT_EQ(sim.driver.wake_ups(), wake_ups);
}

TEST(Lane, IsWokenOnceForAnyNumberOfTasksWhileIdle) {
  simulated_lane sim;
  sim.run_until_idle();
  const auto wake_ups = sim.driver.wake_ups();
  int ran = 0;

  for (int i = 0; i < 10; ++i) sim.under_test.post([&] { ++ran; });

  EXPECT_EQ(sim.driver.wake_ups(), wake_ups + 1);
  sim.run_until_idle();
  EXPECT_EQ(ran, 10);
}

TEST(Lane, RunsTasksInTheOrderOfPosting) {
  simulated_lane sim;
  std::vector<int> ran;

  for (int i = 0; i < 5; ++i) sim.under_test.post([&ran, i] { ran.push_back(i); });
  sim.run_until_idle();

  EXPECT_EQ(ran, (std::vector{0, 1, 2, 3, 4}));
}

TEST(Lane, KnowsThatItIsRunning) {
  simulated_lane sim;
  lane* seen = nullptr;

  sim.under_test.post([&] { seen = lane::current(); });
  sim.run_until_idle();

  EXPECT_EQ(seen, &sim.under_test);
  EXPECT_EQ(lane::current(), nullptr);
}

struct busy final : runnable {
  int turns = 0;
  turn_result run(lane&, const turn_limits&) noexcept override {
    return ++turns < 1000 ? turn_result::again : turn_result::idle;
  }
};

TEST(Lane, ABusyActorNeitherHoldsTheRoundNorStarvesOthers) {
  simulated_lane sim({.turns_per_run = 10});
  sim.run_until_idle();
  busy worker;
  sim.under_test.schedule(worker);

  sim.driver.step();
  EXPECT_EQ(worker.turns, 10);
  EXPECT_LE(sim.driver.due(), sim.clock.now());
  bool ran = false;
  sim.under_test.post([&] { ran = true; });
  sim.driver.step();

  EXPECT_TRUE(ran);
  EXPECT_LE(worker.turns, 20);
  sim.run_until_idle();
}

TEST(Lane, SleepsUntilItsNextTimer) {
  simulated_lane sim;
  int fired = 0;
  timer_node timer([](timer_node& due) noexcept { ++*static_cast<int*>(due.owner); }, &fired);
  const instant deadline = sim.clock.now() + 40ms;

  sim.under_test.post([&] { sim.under_test.arm(timer, deadline); });
  sim.run_until_idle();
  EXPECT_EQ(sim.driver.due(), deadline);
  sim.clock.advance_to(deadline);
  sim.run_until_idle();

  EXPECT_EQ(fired, 1);
  EXPECT_EQ(sim.driver.due(), never);
}

TEST(Lane, ATimerArmedBetweenTwoRoundsWakesTheDriverWhenItIsEarlier) {
  simulated_lane sim;
  sim.run_until_idle();
  timer_node near([](timer_node&) noexcept {});
  timer_node far([](timer_node&) noexcept {});
  const auto wake_ups = sim.driver.wake_ups();

  sim.under_test.arm(near, sim.clock.now() + 5ms);
  EXPECT_EQ(sim.driver.wake_ups(), wake_ups + 1);
  sim.run_until_idle();
  sim.under_test.arm(far, sim.clock.now() + 1h);

  EXPECT_EQ(sim.driver.wake_ups(), wake_ups + 1);
  sim.under_test.cancel(near);
  sim.under_test.cancel(far);
}

TEST(Lane, CachesTheTimeOfARound) {
  simulated_lane sim;
  sim.run_until_idle();
  const instant later = sim.clock.now() + 3s;
  instant seen;
  sim.clock.advance_to(later);

  sim.under_test.post([&] { seen = sim.under_test.now(); });
  sim.run_until_idle();

  EXPECT_EQ(seen, later);
}

std::vector<int> shuffled_run(std::uint64_t seed) {
  simulated_lane sim({.seed = seed, .shuffle = true});
  std::vector<int> ran;
  for (int i = 0; i < 20; ++i) sim.under_test.post([&ran, i] { ran.push_back(i); });
  sim.run_until_idle();
  return ran;
}

TEST(Lane, AShuffledRunIsNamedByItsSeed) {
  EXPECT_EQ(shuffled_run(1), shuffled_run(1));
  EXPECT_NE(shuffled_run(1), shuffled_run(2));
  EXPECT_EQ(shuffled_run(3).size(), 20U);
}

TEST(Lane, GivesUpTasksThatItNeverRan) {
  auto alive = std::make_shared<int>(0);
  {
    simulated_lane sim;
    sim.under_test.post([alive] { FAIL() << "a lane that has ended runs nothing"; });
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace partita::actors
