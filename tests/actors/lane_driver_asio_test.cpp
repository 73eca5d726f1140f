#include "actors/lane_driver_asio.hpp"

#include "actors/lane.hpp"

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

/// A lane on a loop that the test runs.
struct looped_lane {
  looped_lane() { driver->start(under_test); }
  ~looped_lane() {
    // Nobody runs the loop now: it is run here, so that the driver need not wait for it.
    driver->request_end();
    loop.restart();
    loop.poll();
  }
  void settle() {
    loop.restart();
    loop.poll();
  }

  boost::asio::io_context loop;
  std::unique_ptr<lane_driver> driver = make_loop_driver(loop);
  lane under_test{*driver, {}};
};

TEST(LoopDriver, AWakeUpIsOneHandlerForAnyNumberOfTasks) {
  looped_lane sim;
  sim.settle();
  const auto rounds = sim.under_test.rounds();
  int ran = 0;

  for (int i = 0; i < 10; ++i) sim.under_test.post([&] { ++ran; });
  sim.loop.restart();
  EXPECT_EQ(sim.loop.poll(), 1U);

  EXPECT_EQ(ran, 10);
  EXPECT_EQ(sim.under_test.rounds(), rounds + 1);
}

struct busy final : runnable {
  int left = 1000;
  turn_result run(lane&, const turn_limits&) noexcept override {
    return --left > 0 ? turn_result::again : turn_result::idle;
  }
};

TEST(LoopDriver, ABusyLaneLetsTheLoopsOtherHandlersRun) {
  looped_lane sim;
  sim.settle();
  busy worker;
  sim.under_test.schedule(worker);
  sim.loop.restart();

  ASSERT_EQ(sim.loop.poll_one(), 1U);
  EXPECT_GT(worker.left, 0) << "one round does not do all";
  while (worker.left > 0) ASSERT_EQ(sim.loop.poll_one(), 1U);
}

TEST(LoopDriver, SleepsUntilTheTimerWithoutFurtherRounds) {
  looped_lane sim;
  bool fired = false;
  timer_node timer([](timer_node& due) noexcept { *static_cast<bool*>(due.owner) = true; }, &fired);
  sim.under_test.post(
      [&] { sim.under_test.arm(timer, sim.under_test.now() + std::chrono::milliseconds(2)); });
  sim.settle();
  const auto rounds = sim.under_test.rounds();

  sim.loop.restart();
  sim.loop.run();  // returns when the loop has nothing to wait for any more

  EXPECT_TRUE(fired);
  EXPECT_LE(sim.under_test.rounds(), rounds + 2);
}

TEST(LoopDriver, HasATransport) {
  looped_lane sim;

  EXPECT_NE(sim.under_test.transport(), nullptr);
}

TEST(LoopDriver, IsHereOnlyWhileTheLoopRuns) {
  looped_lane sim;
  bool here = false;
  sim.under_test.post([&] { here = sim.under_test.runs_here(); });

  EXPECT_FALSE(sim.under_test.runs_here());
  sim.settle();
  EXPECT_TRUE(here);
}

}  // namespace
}  // namespace partita::actors
