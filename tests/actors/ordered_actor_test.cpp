#include "actors/ordered_actor.hpp"

#include "actors/actor_bridge.hpp"
#include "actors/runtime.hpp"
#include "tests/actors/message_receiver.hpp"

#include <partita/caf.hpp>

#include <caf/execution_unit.hpp>
#include <caf/send.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace partita::actors {
namespace {

constexpr auto op_kind = command_kind::first_free;

/// One operation of a sender: by a command or by a CAF message, in a random mixture.
struct op_command : command {
  op_command(int sender, int number) : sender(sender), number(number) { kind = op_kind; }
  int sender;
  int number;
};

struct thread_log {
  std::thread::id id;
  bool several = false;
  void note_this_thread() {
    if (id == std::thread::id{}) id = std::this_thread::get_id();
    several = several || id != std::this_thread::get_id();
  }
};

/// Notes senders and numbers in the order of processing. Messages carry them in a recover_request.
class order_body final : public actor_body {
 public:
  order_body(std::vector<std::vector<int>>& seen, std::ptrdiff_t expected, std::latch& done,
             thread_log& threads)
      : seen_(seen), left_(expected), done_(done), threads_(threads) {}

  void on_command(command& what) override {
    if (what.kind == op_kind) {
      const std::unique_ptr<op_command> op(static_cast<op_command*>(&what));
      note(op->sender, op->number);
    } else {
      const std::unique_ptr<control_command> control(static_cast<control_command*>(&what));
      const auto& request = std::get<produce_request>(control->request);
      note(static_cast<int>(request.first_tag >> 32U),
           static_cast<int>(request.first_tag & 0xffffffffU));
      control->answer(control_done{});
    }
  }
  void on_refused(command& what) noexcept override {
    if (what.kind == op_kind)
      delete static_cast<op_command*>(&what);
    else
      delete static_cast<control_command*>(&what);
  }

 private:
  void note(int sender, int number) {
    threads_.note_this_thread();
    seen_[static_cast<std::size_t>(sender)].push_back(number);
    if (--left_ == 0) done_.count_down();
  }

  std::vector<std::vector<int>>& seen_;
  std::ptrdiff_t left_;
  std::latch& done_;
  thread_log& threads_;
};

produce_request numbered_message(int sender, int number) {
  return {.records = {},
          .first_tag =
              (static_cast<std::uint64_t>(sender) << 32U) | static_cast<std::uint64_t>(number)};
}

std::vector<int> counting_up(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = i;
  return numbers;
}

TEST(OrderedActor, MixesCommandsAndMessagesInTheOrderOfTheCalls) {
  constexpr int senders = 3;
  constexpr int each = 20'000;
  std::vector<std::vector<int>> seen(senders);
  std::latch done(1);
  thread_log threads;
  runtime running({});
  const auto actor = running.spawn(
      std::make_unique<order_body>(seen, senders * each, done, threads), running.lane_at(0));
  const caf::actor handle = actor_handle(actor);

  std::vector<std::thread> callers;
  for (int sender = 0; sender < senders; ++sender)
    callers.emplace_back([&, sender] {
      random_source random(static_cast<std::uint64_t>(sender) + 1);
      for (int number = 0; number < each; ++number)
        if (random.below(4) == 0)
          caf::anon_send(handle, numbered_message(sender, number));
        else
          ASSERT_TRUE(actor.push(*new op_command(sender, number)));
    });
  for (auto& caller : callers) caller.join();
  done.wait();
  running.stop();

  for (const auto& numbers : seen) EXPECT_EQ(numbers, counting_up(each));
  EXPECT_FALSE(threads.several) << "one thread only: the lane's";
}

/// What a foreign sender's thread offers; an ordered actor must not take it.
class counting_unit final : public caf::execution_unit {
 public:
  counting_unit() : execution_unit(nullptr) {}
  void exec_later(caf::resumable*) override { ++offers_taken; }
  int offers_taken = 0;
};

TEST(OrderedActor, RunsOnItsLaneWhateverThreadASenderOffers) {
  std::vector<std::vector<int>> seen(1);
  std::latch done(1);
  thread_log threads;
  foreign_system outside;
  runtime running({});
  const auto actor =
      running.spawn(std::make_unique<order_body>(seen, 1000, done, threads), running.lane_at(0));
  std::thread::id lane_thread;
  running.lane_at(0).driver().run_there(
      [](void* id) { *static_cast<std::thread::id*>(id) = std::this_thread::get_id(); },
      &lane_thread);

  counting_unit unit;
  for (int i = 0; i < 1000; ++i)
    outside.send(actor_handle(actor), numbered_message(0, i), 0, &unit);
  done.wait();
  running.stop();

  EXPECT_EQ(seen[0], counting_up(1000));
  EXPECT_EQ(unit.offers_taken, 0);
  EXPECT_FALSE(threads.several);
  EXPECT_EQ(threads.id, lane_thread);
}

/// In its own turn, sends itself a message and pushes commands around it.
class reentrant_body final : public actor_body {
 public:
  reentrant_body(std::vector<int>& seen, std::latch& done) : seen_(seen), done_(done) {}
  caf::actor handle;

  void on_command(command& what) override {
    int number = 0;
    if (what.kind == op_kind) {
      const std::unique_ptr<op_command> op(static_cast<op_command*>(&what));
      number = op->number;
    } else {
      const std::unique_ptr<control_command> control(static_cast<control_command*>(&what));
      number = static_cast<int>(std::get<produce_request>(control->request).first_tag);
    }
    seen_.push_back(number);
    if (number == 1) {
      ASSERT_TRUE(self()->push(*new op_command(0, 10)));
      caf::anon_send(handle, numbered_message(0, 11));
      ASSERT_TRUE(self()->push(*new op_command(0, 12)));
    }
    if (number == 2) done_.count_down();
  }
  void on_refused(command& what) noexcept override { delete static_cast<op_command*>(&what); }
  void on_stopped() noexcept override { handle = nullptr; }

 private:
  std::vector<int>& seen_;
  std::latch& done_;
};

TEST(OrderedActor, KeepsTheOrderOfCommandsAndMessagesInTheFrontListToo) {
  std::vector<int> seen;
  std::latch done(1);
  runtime running({});
  auto made = std::make_unique<reentrant_body>(seen, done);
  auto* body = made.get();
  const auto actor = running.spawn(std::move(made), running.lane_at(0));
  std::latch set(1);
  running.lane_at(0).post([&] {
    body->handle = actor_handle(actor);
    // From the lane, so that both are queued before the actor's turn.
    static_cast<void>(actor.push(*new op_command(0, 1)));
    static_cast<void>(actor.push(*new op_command(0, 2)));
    set.count_down();
  });
  set.wait();
  done.wait();
  running.stop();

  EXPECT_EQ(seen, (std::vector{1, 10, 11, 12, 2}));
}

TEST(OrderedActor, IsNotEndedByExitMessages) {
  thread_log threads;
  std::vector<std::vector<int>> seen(1);
  std::latch done(1);
  runtime running({});
  const auto actor =
      running.spawn(std::make_unique<order_body>(seen, 1, done, threads), running.lane_at(0));
  const caf::actor handle = actor_handle(actor);

  caf::anon_send_exit(handle, caf::exit_reason::kill);
  caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(actor.push(*new op_command(0, 7)));
  done.wait();

  EXPECT_EQ(seen[0], std::vector{7});
  EXPECT_FALSE(actor.cell()->stopped());
}

/// Holds its lane inside a command until it is let go.
class gated_body final : public actor_body {
 public:
  gated_body(std::latch& entered, std::latch& gate, std::atomic<int>& processed,
             std::atomic<int>& refused)
      : entered_(entered), gate_(gate), processed_(processed), refused_(refused) {}
  void on_command(command& what) override {
    const std::unique_ptr<op_command> op(static_cast<op_command*>(&what));
    if (op->number == 0) {
      entered_.count_down();
      gate_.wait();
    }
    ++processed_;
  }
  void on_refused(command& what) noexcept override {
    if (what.kind == op_kind) {
      delete static_cast<op_command*>(&what);
    } else {
      refuse_control(std::unique_ptr<control_command>(static_cast<control_command*>(&what)),
                     client_errc::closed);
    }
    ++refused_;
  }

 private:
  std::latch& entered_;
  std::latch& gate_;
  std::atomic<int>& processed_;
  std::atomic<int>& refused_;
};

TEST(OrderedActor, AStopAnswersEverythingThatIsQueued) {
  std::latch entered(1), gate(1);
  std::atomic<int> processed{0}, refused{0};
  runtime running({});
  const auto actor = running.spawn(std::make_unique<gated_body>(entered, gate, processed, refused),
                                   running.lane_at(0));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(actor.push(*new op_command(0, i)));
  entered.wait();

  // The flag is set while the actor is inside its first command: all others are refused.
  actor.request_stop();
  gate.count_down();
  running.stop();

  EXPECT_EQ(processed, 1);
  EXPECT_EQ(refused, 999);
  op_command late(0, 0);
  EXPECT_FALSE(actor.cell()->push(late));
}

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task"), end;
  return static_cast<std::size_t>(std::distance(tasks, end));
}

TEST(OrderedActor, TheActorSystemHasNoThreadsBesidesTheLanes) {
  const auto before = threads_of_this_process();
  thread_log threads;
  std::vector<std::vector<int>> seen(1);
  std::latch done(1);
  {
    runtime_options options;
    options.lanes = 2;
    runtime running(std::move(options));
    const auto actor =
        running.spawn(std::make_unique<order_body>(seen, 1, done, threads), running.lane_at(1));
    caf::anon_send(actor_handle(actor), numbered_message(0, 0));
    done.wait();
    EXPECT_EQ(threads_of_this_process(), before + 2);
  }
  EXPECT_EQ(threads_of_this_process(), before);
}

}  // namespace
}  // namespace partita::actors
