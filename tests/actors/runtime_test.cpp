#include "actors/runtime.hpp"

#include "actors/lane_driver_asio.hpp"
#include "tests/actors/message_receiver.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <thread>

namespace partita::actors {
namespace {

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task"), end;
  return static_cast<std::size_t>(std::distance(tasks, end));
}

struct ping : command {
  ping() { kind = command_kind::first_free; }
};

struct counts {
  std::atomic<int> processed{0};
  std::atomic<int> refused{0};
  std::atomic<int> stopped{0};
  std::atomic<int> destroyed{0};
};

class counting_body final : public actor_body {
 public:
  explicit counting_body(counts& into, std::function<void()> on_ping = {})
      : into_(into), on_ping_(std::move(on_ping)) {}
  ~counting_body() override {
    ++into_.destroyed;
    into_.destroyed.notify_all();
  }
  void on_command(command& what) override {
    delete static_cast<ping*>(&what);
    ++into_.processed;
    if (on_ping_) on_ping_();
    into_.processed.notify_all();
  }
  void on_refused(command& what) noexcept override {
    delete static_cast<ping*>(&what);
    ++into_.refused;
  }
  void on_stopped() noexcept override { ++into_.stopped; }

 private:
  counts& into_;
  std::function<void()> on_ping_;
};

void push_ping(ordered_actor_handle to) {
  auto node = std::make_unique<ping>();
  if (to.push(*node)) static_cast<void>(node.release());
}

TEST(Runtime, StopsActorsOnAllLanesAndDestroysTheirBodies) {
  counts seen;
  {
    runtime_options options;
    options.lanes = 2;
    runtime running(std::move(options));
    for (std::size_t i = 0; i < 10; ++i)
      push_ping(running.spawn(std::make_unique<counting_body>(seen), running.lane_at(i % 2)));
    running.stop();
    EXPECT_EQ(seen.stopped, 10);
    EXPECT_EQ(seen.processed + seen.refused, 10);
    running.stop();
  }
  EXPECT_EQ(seen.stopped, 10);
  EXPECT_EQ(seen.destroyed, 10);
}

TEST(Runtime, ManyRuntimesComeAndGo) {
  for (int i = 0; i < 30; ++i) {
    counts seen;
    runtime running({});
    push_ping(running.spawn(std::make_unique<counting_body>(seen), running.lane_at(0)));
    running.stop();
    EXPECT_EQ(seen.stopped, 1);
  }
}

TEST(Runtime, AnotherThreadThanItsMakerMayEndIt) {
  counts seen;
  auto running = std::make_unique<runtime>(runtime_options{});
  push_ping(running->spawn(std::make_unique<counting_body>(seen), running->lane_at(0)));

  std::thread([&] { running.reset(); }).join();

  EXPECT_EQ(seen.destroyed, 1);
}

TEST(Runtime, LeavesTheLoggerOfTheApplicationsActorSystemAlone) {
  threadless_config config;
  caf::actor_system system(config);
  const caf::logger* const mine = caf::logger::current_logger();
  ASSERT_NE(mine, nullptr);
  {
    counts seen;
    runtime running({});
    push_ping(running.spawn(std::make_unique<counting_body>(seen), running.lane_at(0)));
    EXPECT_EQ(caf::logger::current_logger(), mine);
  }
  EXPECT_EQ(caf::logger::current_logger(), mine);
}

TEST(Runtime, WithoutActorsItStopsToo) {
  runtime running({});
  running.stop();
}

TEST(Runtime, DestroyedOnALaneThreadItIsFinishedByTheLanes) {
  counts seen;
  const auto before = threads_of_this_process();
  std::unique_ptr<runtime> running;
  {
    runtime_options options;
    options.lanes = 2;
    running = std::make_unique<runtime>(std::move(options));
  }
  const auto bystander = running->spawn(std::make_unique<counting_body>(seen), running->lane_at(1));
  const auto actor = running->spawn(std::make_unique<counting_body>(seen, [&] { running.reset(); }),
                                    running->lane_at(0));
  push_ping(bystander);
  push_ping(actor);

  for (int gone = seen.destroyed; gone < 2; gone = seen.destroyed) seen.destroyed.wait(gone);
  while (threads_of_this_process() > before) std::this_thread::yield();

  EXPECT_EQ(seen.stopped, 2);
}

TEST(Runtime, DestroyedOnALaneThreadWithoutActorsItEndsToo) {
  const auto before = threads_of_this_process();
  auto running = std::make_unique<runtime>(runtime_options{});
  std::latch destroyed(1);
  running->lane_at(0).post([&] {
    running.reset();
    destroyed.count_down();
  });

  destroyed.wait();
  while (threads_of_this_process() > before) std::this_thread::yield();
  EXPECT_EQ(running, nullptr);
}

runtime_options on_loop(boost::asio::io_context& loop) {
  runtime_options options;
  options.drivers.push_back(make_loop_driver(loop));
  return options;
}

TEST(Runtime, OnTheApplicationsLoopItHasNoThread) {
  const auto before = threads_of_this_process();
  counts seen;
  boost::asio::io_context loop;
  {
    runtime running(on_loop(loop));
    const auto actor = running.spawn(std::make_unique<counting_body>(seen), running.lane_at(0));
    push_ping(actor);
    EXPECT_EQ(seen.processed, 0) << "nothing runs before the loop does";
    loop.run();
    EXPECT_EQ(seen.processed, 1);
    EXPECT_EQ(threads_of_this_process(), before);
    loop.restart();
    loop.poll();
  }
  EXPECT_EQ(seen.stopped, 1);
  EXPECT_EQ(seen.destroyed, 1);
}

TEST(Runtime, OnTheApplicationsLoopAnIdleLaneLeavesTheLoopAlone) {
  counts seen;
  boost::asio::io_context loop;
  runtime running(on_loop(loop));
  push_ping(running.spawn(std::make_unique<counting_body>(seen), running.lane_at(0)));
  loop.run();
  const auto rounds = running.lane_at(0).rounds();

  // run() returned: the loop has neither handlers nor timers of ours.
  loop.restart();
  EXPECT_EQ(loop.run(), 0U);
  EXPECT_EQ(running.lane_at(0).rounds(), rounds);
}

TEST(Runtime, OnTheApplicationsLoopItMayBeDestroyedInAHandler) {
  counts seen;
  boost::asio::io_context loop;
  auto running = std::make_unique<runtime>(on_loop(loop));
  const auto actor = running->spawn(std::make_unique<counting_body>(seen), running->lane_at(0));
  push_ping(actor);
  bool destroyed = false;
  boost::asio::post(loop, [&] {
    running.reset();
    destroyed = seen.destroyed == 1;
  });

  loop.run();

  EXPECT_TRUE(destroyed);
  EXPECT_EQ(seen.stopped, 1);
}

TEST(Runtime, OnTheApplicationsLoopItMayBeDestroyedByAnotherThread) {
  counts seen;
  boost::asio::io_context loop;
  auto guard = boost::asio::make_work_guard(loop);
  std::thread application([&] { loop.run(); });
  std::thread::id ran_on;
  {
    runtime running(on_loop(loop));
    const auto actor = running.spawn(
        std::make_unique<counting_body>(seen, [&] { ran_on = std::this_thread::get_id(); }),
        running.lane_at(0));
    push_ping(actor);
    seen.processed.wait(0);
  }
  EXPECT_EQ(seen.destroyed, 1);
  EXPECT_EQ(ran_on, application.get_id());
  guard.reset();
  application.join();
}

TEST(Runtime, AWakeUpLeftInTheLoopAfterTheEndDoesNothing) {
  boost::asio::io_context loop;
  {
    counts seen;
    auto running = std::make_unique<runtime>(on_loop(loop));
    const auto actor = running->spawn(std::make_unique<counting_body>(seen), running->lane_at(0));
    boost::asio::post(loop, [&] {
      push_ping(actor);
      running.reset();
      loop.stop();
    });
    loop.run();
  }
  loop.restart();
  loop.run();
}

TEST(Runtime, TimersFireOnALaneWithAThread) {
  runtime running({});
  std::latch fired(1);
  struct owner {
    std::latch& fired;
    timer_node node{
        [](timer_node& due) noexcept { static_cast<owner*>(due.owner)->fired.count_down(); }, this};
  } timer{fired};
  lane& home = running.lane_at(0);

  home.post([&] { home.arm(timer.node, home.now() + std::chrono::milliseconds(3)); });

  fired.wait();
  running.stop();
}

TEST(Runtime, WorkCanBeHandedToALaneAndWaitedFor) {
  runtime running({});
  std::thread::id ran_on;

  running.lane_at(0).driver().run_there(
      [](void* id) { *static_cast<std::thread::id*>(id) = std::this_thread::get_id(); }, &ran_on);

  EXPECT_NE(ran_on, std::thread::id{});
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

}  // namespace
}  // namespace partita::actors
