#include "actors/actor_cell.hpp"

#include "actors/lane_driver_simulated.hpp"
#include "actors/runtime.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace partita::actors {
namespace {

struct numbered : command {
  explicit numbered(int number, std::uint32_t bytes = 0) : number(number) {
    kind = command_kind::first_free;
    weight = bytes;
  }
  int number;
};

/// What a scripted body did, readable after the actor has gone.
struct diary {
  std::vector<int> processed;
  std::vector<int> refused;
  std::vector<std::size_t> processed_at_turn_end;
  std::int64_t patience = 0;
  bool started = false;
  bool stopped = false;
};

class scripted_body final : public actor_body {
 public:
  using script = std::function<void(actor_cell&, int)>;
  explicit scripted_body(diary& log, script on_number = {})
      : log_(log), on_number_(std::move(on_number)) {}

  void on_started(actor_cell&) override { log_.started = true; }
  void on_command(command& what) override {
    const std::unique_ptr<numbered> node(static_cast<numbered*>(&what));
    log_.processed.push_back(node->number);
    if (on_number_) on_number_(*self(), node->number);
  }
  void on_turn_end() override { log_.processed_at_turn_end.push_back(log_.processed.size()); }
  std::int64_t patience() noexcept override { return log_.patience; }
  void on_refused(command& what) noexcept override {
    const std::unique_ptr<numbered> node(static_cast<numbered*>(&what));
    log_.refused.push_back(node->number);
    if (on_refused_number) on_refused_number(*self(), node->number);
  }
  void on_stopped() noexcept override { log_.stopped = true; }

  script on_refused_number;

 private:
  diary& log_;
  script on_number_;
};

bool push(actor_cell& to, int number, std::uint32_t bytes = 0) {
  auto node = std::make_unique<numbered>(number, bytes);
  if (!to.push(*node)) return false;
  static_cast<void>(node.release());
  return true;
}

bool push_patiently(actor_cell& to, int number) {
  auto node = std::make_unique<numbered>(number);
  if (!to.push_patiently(*node, 1)) return false;
  static_cast<void>(node.release());
  return true;
}

bool push_other_kind(actor_cell& to, int number) {
  auto node = std::make_unique<numbered>(number);
  node->kind = command_kind::control;
  if (!to.push(*node)) return false;
  static_cast<void>(node.release());
  return true;
}

/// Actors without CAF on lanes that are stepped by hand.
class ActorCell : public testing::Test {
 protected:
  explicit ActorCell(turn_limits turn = {}) {
    runtime_options options;
    options.surroundings = {.clock = &clock, .seed = 1};
    options.lanes = 2;
    options.turn = turn;
    options.with_caf = false;
    for (auto& driver : drivers) {
      auto made = std::make_unique<simulated_driver>();
      driver = made.get();
      options.drivers.push_back(std::move(made));
    }
    running = std::make_unique<runtime>(std::move(options));
  }

  ordered_actor_handle spawn(scripted_body::script script = {}) {
    return running->spawn(std::make_unique<scripted_body>(log, std::move(script)),
                          running->lane_at(0));
  }
  void run_until_idle() {
    for (bool ran = true; ran;) {
      ran = false;
      for (auto* driver : drivers)
        if (driver->due() <= clock.now()) {
          driver->step();
          ran = true;
        }
    }
  }

  virtual_clock clock;
  simulated_driver* drivers[2] = {};
  // Members before the runtime, because a body writes into its diary when the runtime stops it.
  diary log;
  diary other_log;
  std::unique_ptr<runtime> running;
};

TEST_F(ActorCell, StartsInItsFirstTurnAndProcessesInOrder) {
  const auto actor = spawn();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(push(*actor.cell(), i));
  EXPECT_FALSE(log.started);

  run_until_idle();

  EXPECT_TRUE(log.started);
  EXPECT_EQ(log.processed, (std::vector{0, 1, 2, 3}));
}

TEST_F(ActorCell, WhatIsPushedInTheOwnTurnGoesBeforeTheNextQueuedCommand) {
  const auto actor = spawn([](actor_cell& self, int number) {
    if (number == 1) {
      ASSERT_TRUE(push(self, 10));
      ASSERT_TRUE(push(self, 11));
    }
    if (number == 10) {
      ASSERT_TRUE(push(self, 100));
    }
  });
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(push(*actor.cell(), i));

  run_until_idle();

  EXPECT_EQ(log.processed, (std::vector{1, 10, 11, 100, 2, 3}));
}

TEST_F(ActorCell, TheFrontListIsOfTheOwnTurnOnly) {
  const auto other = spawn();
  const auto first =
      running->spawn(std::make_unique<scripted_body>(other_log,
                                                     [&](actor_cell&, int number) {
                                                       if (number == 1) {
                                                         ASSERT_TRUE(push(*other.cell(), 50));
                                                       }
                                                     }),
                     running->lane_at(0));
  ASSERT_TRUE(push(*other.cell(), 1));
  ASSERT_TRUE(push(*first.cell(), 1));

  run_until_idle();

  EXPECT_EQ(log.processed, (std::vector{1, 50}));
}

TEST_F(ActorCell, AnExceptionOfTheBodyIsCountedAndEndsNothing) {
  const auto actor = spawn([](actor_cell&, int number) {
    if (number == 1) throw std::runtime_error("of the body");
  });
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(push(*actor.cell(), i));

  run_until_idle();

  EXPECT_EQ(log.processed, (std::vector{1, 2, 3}));
  EXPECT_EQ(actor.cell()->exceptions(), 1U);
}

TEST_F(ActorCell, StoppingRefusesEverythingQueuedInOrder) {
  const auto actor = spawn([](actor_cell& self, int number) {
    if (number == 1) {
      ASSERT_TRUE(push(self, 10));
      self.request_stop();
    }
  });
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(push(*actor.cell(), i));

  run_until_idle();

  EXPECT_EQ(log.processed, std::vector{1});
  EXPECT_EQ(log.refused, (std::vector{10, 2, 3}));
  EXPECT_TRUE(log.stopped);
  EXPECT_TRUE(actor.cell()->stopped());
  EXPECT_FALSE(push(*actor.cell(), 4)) << "a late command stays with its pusher";
}

TEST_F(ActorCell, AStopIsNotQueuedBehindCommands) {
  const auto actor = spawn();
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(push(*actor.cell(), i));
  actor.request_stop();

  run_until_idle();

  EXPECT_TRUE(log.processed.empty());
  EXPECT_EQ(log.refused, (std::vector{1, 2, 3}));
}

TEST_F(ActorCell, AnIdleActorStopsToo) {
  const auto actor = spawn();
  run_until_idle();
  actor.request_stop();
  actor.request_stop();

  run_until_idle();

  EXPECT_TRUE(log.stopped);
}

TEST_F(ActorCell, AnAnswerToARefusedCommandThatPushesAgainIsRefusedToItsPusher) {
  auto body = std::make_unique<scripted_body>(log);
  int refused_pushes = 0;
  body->on_refused_number = [&](actor_cell& self, int) {
    if (!push(self, 99)) ++refused_pushes;
  };
  const auto actor = running->spawn(std::move(body), running->lane_at(0));
  for (int i = 1; i <= 2; ++i) ASSERT_TRUE(push(*actor.cell(), i));
  actor.request_stop();

  run_until_idle();

  EXPECT_EQ(log.refused, (std::vector{1, 2}));
  EXPECT_EQ(refused_pushes, 2);
}

TEST_F(ActorCell, TheRuntimeStopsActorsThatHaveMuchToDo) {
  const auto actor = spawn();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(push(*actor.cell(), i));

  running->stop();

  EXPECT_EQ(log.processed.size() + log.refused.size(), 5000U);
  EXPECT_TRUE(log.stopped);
}

TEST_F(ActorCell, MovesToAnotherLaneBetweenTwoTurns) {
  std::vector<lane*> seen;
  const auto actor = spawn([&](actor_cell& self, int number) {
    seen.push_back(lane::current());
    if (number == 1) self.move_to(running->lane_at(1));
  });
  ASSERT_TRUE(push(*actor.cell(), 1));
  ASSERT_TRUE(push(*actor.cell(), 2));
  run_until_idle();
  ASSERT_TRUE(push(*actor.cell(), 3));
  run_until_idle();

  lane* const first = &running->lane_at(0);
  lane* const second = &running->lane_at(1);
  EXPECT_EQ(seen, (std::vector{first, first, second}));
}

TEST_F(ActorCell, WhileItDozesPatientCommandsWaitForOneThatCanNot) {
  log.patience = 10;
  const auto actor = spawn();
  run_until_idle();
  ASSERT_TRUE(push_patiently(*actor.cell(), 1));
  ASSERT_TRUE(push_patiently(*actor.cell(), 2));
  run_until_idle();
  EXPECT_TRUE(log.processed.empty());

  ASSERT_TRUE(push(*actor.cell(), 3));
  run_until_idle();
  EXPECT_EQ(log.processed, (std::vector{1, 2, 3}));
}

TEST_F(ActorCell, ItsPatienceEnds) {
  log.patience = 2;
  const auto actor = spawn();
  run_until_idle();
  ASSERT_TRUE(push_patiently(*actor.cell(), 1));
  ASSERT_TRUE(push_patiently(*actor.cell(), 2));

  run_until_idle();

  EXPECT_EQ(log.processed, (std::vector{1, 2}));
}

TEST_F(ActorCell, TheEndOfADozeGivesATurnToWhatLiesUnread) {
  log.patience = 10;
  const auto actor = spawn();
  run_until_idle();
  ASSERT_TRUE(push_patiently(*actor.cell(), 1));

  actor.cell()->end_doze();
  run_until_idle();

  EXPECT_EQ(log.processed, std::vector{1});
}

TEST_F(ActorCell, WhatLiesUnreadCanBeReadBeforeItsTurn) {
  log.patience = 10;
  const auto actor = spawn();
  run_until_idle();
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(push_patiently(*actor.cell(), i));

  actor.cell()->read_unread(command_kind::first_free);
  EXPECT_EQ(log.processed, (std::vector{1, 2, 3}));

  ASSERT_TRUE(push_patiently(*actor.cell(), 4));
  run_until_idle();
  EXPECT_EQ(log.processed, (std::vector{1, 2, 3})) << "it dozes on";
}

TEST_F(ActorCell, WhatIsPushedWhileTheUnreadIsReadHasItsTurnInOrder) {
  log.patience = 10;
  const auto actor = spawn([](actor_cell& self, int number) {
    if (number == 1) {
      ASSERT_TRUE(push_other_kind(self, 10));
    }
  });
  run_until_idle();
  ASSERT_TRUE(push_patiently(*actor.cell(), 1));
  ASSERT_TRUE(push_patiently(*actor.cell(), 2));

  actor.cell()->read_unread(command_kind::first_free);
  EXPECT_EQ(log.processed, std::vector{1}) << "another kind stands before the second";
  run_until_idle();
  EXPECT_EQ(log.processed, (std::vector{1, 10, 2}));
}

TEST_F(ActorCell, WhatLiesUnreadIsNotReadInTheOwnTurn) {
  const auto actor = spawn([](actor_cell& self, int number) {
    if (number == 1) self.read_unread(command_kind::first_free);
  });
  for (int i = 1; i <= 2; ++i) ASSERT_TRUE(push(*actor.cell(), i));
  run_until_idle();
  EXPECT_EQ(log.processed, (std::vector{1, 2}));
}

TEST_F(ActorCell, ADozingActorStopsAndRefusesWhatLiesUnread) {
  log.patience = 10;
  const auto actor = spawn();
  run_until_idle();
  ASSERT_TRUE(push_patiently(*actor.cell(), 1));
  actor.request_stop();

  run_until_idle();

  EXPECT_EQ(log.refused, std::vector{1});
  EXPECT_TRUE(log.stopped);
  EXPECT_FALSE(push_patiently(*actor.cell(), 2));
}

class ActorCellWithShortTurns : public ActorCell {
 protected:
  ActorCellWithShortTurns() : ActorCell({.commands = 10, .bytes = 1000}) {}
};

TEST_F(ActorCellWithShortTurns, ATurnIsBoundedByCommands) {
  const auto actor = spawn();
  run_until_idle();
  log.processed_at_turn_end.clear();
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(push(*actor.cell(), i));

  run_until_idle();

  EXPECT_EQ(log.processed_at_turn_end, (std::vector<std::size_t>{10, 20, 25}));
}

TEST_F(ActorCellWithShortTurns, ATurnIsBoundedByBytes) {
  const auto actor = spawn();
  run_until_idle();
  log.processed_at_turn_end.clear();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(push(*actor.cell(), i, 600));

  run_until_idle();

  EXPECT_EQ(log.processed_at_turn_end, (std::vector<std::size_t>{2, 4, 5}));
}

TEST_F(ActorCellWithShortTurns, MovingWithWorkLeftTakesTheWorkAlong) {
  std::vector<lane*> seen;
  const auto actor = spawn([&](actor_cell& self, int number) {
    seen.push_back(lane::current());
    if (number == 0) self.move_to(running->lane_at(1));
  });
  run_until_idle();
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(push(*actor.cell(), i));

  run_until_idle();

  ASSERT_EQ(seen.size(), 25U);
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], &running->lane_at(i < 10 ? 0 : 1)) << i;
  for (int i = 0; i < 25; ++i) EXPECT_EQ(log.processed[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace partita::actors
