// How an application may use what the calls of a producer return, and what becomes of the
// exceptions of its callbacks.
#include "tests/builders/contract_guard.hpp"
#include "tests/sim/history.hpp"
#include "tests/sim/owned_coroutine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using std::chrono::milliseconds;

record to_the_ledger(std::string_view value) {
  record one;
  one.topic = history::topic();
  one.partition = 0;
  one.value = value;
  return one;
}

owned_coroutine await_twice(producer& owner, std::string& said) {
  auto sends = owner.produce(to_the_ledger("once"));
  said += (co_await std::move(sends)).is_delivered() ? "delivered" : "failed";
  try {
    static_cast<void>(co_await std::move(sends));
    said += ", delivered again";
  } catch (const broken_contract& broken) {
    said += std::string(", ") + broken.what();
  }
}

TEST(OperationUse, OneOfProduceSendsItsRecordOnce) {
  const contract_guard guard;
  history story({});
  std::string said;
  const owned_coroutine loop = await_twice(story.producer(), said);
  story.world().time().run_until([&] { return loop.done(); }, std::chrono::minutes(1));
  EXPECT_TRUE(said.starts_with("delivered, an operation of produce() was started a second time"))
      << said;
  EXPECT_EQ(story.cluster().log(history::topic(), 0).size(), 1U);
}

// Called on a lane it would be a crash that names nobody.
TEST(OperationUse, ACallbackThatCanNotBeCalledIsRefusedInTheCall) {
  const contract_guard guard;
  history story({});
  void (*no_code)(const outcome&) = nullptr;
  const std::function<void(const outcome&)> empty;
  const record what = to_the_ledger("v");
  EXPECT_THROW(story.producer().produce(what, no_code), broken_contract);
  EXPECT_THROW(story.producer().produce(what, produce_options(), empty), broken_contract);
  EXPECT_THROW(static_cast<void>(story.producer().try_produce(what, no_code)), broken_contract);
  void (*no_tally_code)(const tally&) = nullptr;
  EXPECT_THROW(story.producer().flush().then(no_tally_code), broken_contract);
  std::function<void(const outcome&)> code = [](const outcome&) {};
  story.producer().produce(what, code);
  const auto plain = [](const outcome&) {};
  story.producer().produce(what, plain);
  EXPECT_EQ(wait_for(story.world(), story.producer().flush()).delivered, 2U);
}

std::uint64_t exceptions_of(history& story) {
  return wait_for(story.world(), story.producer().status()).callback_exceptions;
}

TEST(OperationUse, AnExceptionInThenIsCountedAndDropped) {
  history story({});
  std::optional<outcome> told;
  story.producer().produce(to_the_ledger("v"), [&](const outcome& answer) { told = answer; });
  bool called = false;
  story.producer().flush().then([&](const tally&) {
    called = true;
    throw std::runtime_error("on the lane");
  });
  ASSERT_TRUE(story.world().time().run_until([&] { return called; }, std::chrono::minutes(1)));
  EXPECT_TRUE(told);
  EXPECT_EQ(exceptions_of(story), 1U);

  auto paused = story.producer().pause(history::topic(), 0);
  ASSERT_TRUE(story.world().time().run_until([&] { return paused.done(); }, milliseconds(10)));
  std::move(paused).then([](bool) { throw std::runtime_error("inside the call"); });
  EXPECT_EQ(exceptions_of(story), 2U);
}

TEST(OperationUse, AnExceptionInThenThatComesBehindTheProducerIsDropped) {
  history story({});
  auto closed = story.producer().close(milliseconds(1));
  auto again = story.producer().settle(ticket{77});
  story.end_producer();
  int calls = 0;
  std::move(closed).then([&](const close_report&) {
    ++calls;
    throw std::runtime_error("nobody is told");
  });
  std::move(again).then([&](const settlement&) {
    ++calls;
    throw std::runtime_error("nobody is told");
  });
  EXPECT_EQ(calls, 2);
}

/// A coroutine that lets exceptions out to whoever continues it.
struct leaking_coroutine {
  struct promise_type {
    leaking_coroutine get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};

TEST(OperationUse, AnExceptionThatLeavesACoroutineIsCountedAndDropped) {
  history story({});
  const auto leak = [](producer& owner, bool by_record) -> leaking_coroutine {
    if (by_record)
      static_cast<void>(co_await owner.produce(to_the_ledger("v")));
    else
      static_cast<void>(co_await owner.flush());
    throw std::runtime_error("out of the coroutine");
  };
  story.producer().produce(to_the_ledger("v"), [](const outcome&) {});
  const leaking_coroutine one = leak(story.producer(), true);
  const leaking_coroutine other = leak(story.producer(), false);
  ASSERT_TRUE(story.world().time().run_until(
      [&] { return one.handle.done() && other.handle.done(); }, std::chrono::minutes(1)));
  EXPECT_EQ(exceptions_of(story), 2U);
  one.handle.destroy();
  other.handle.destroy();
}

/// Partition 0 answers late.
void slow_down(history& story) {
  fault slow;
  slow.topic = history::topic();
  slow.partition = 0;
  slow.answer_after = milliseconds(1900);
  story.cluster().inject(slow);
}

bool done_within(history& story, const operation<tally>& flush, milliseconds limit) {
  return story.world().time().run_until([&] { return flush.done(); }, limit);
}

TEST(FlushScope, APartitionThatTheTopicHasNotIsFlushedAtOnce) {
  history story({});
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  slow_down(story);
  story.produce(0, "slow");
  for (const int absent : {99, -1}) {
    auto flush = story.producer().flush(history::topic(), absent);
    EXPECT_TRUE(flush.done()) << absent;
    EXPECT_EQ(wait_for(story.world(), std::move(flush)), tally{}) << absent;
  }
  EXPECT_EQ(story.answered(), 1U);
  EXPECT_EQ(wait_for(story.world(), story.producer().flush(history::topic(), 0)), (tally{1, 0, 0}));
}

// The same before the topic is known, and of a partition that has nothing to do.
TEST(FlushScope, OnePartitionOfATopicThatIsNotKnownYetWaitsForNoOther) {
  history story({});
  slow_down(story);
  story.produce(0, "slow");
  std::optional<outcome> refused;
  record nowhere = to_the_ledger("nowhere");
  nowhere.partition = 99;
  story.producer().produce(nowhere, [&](const outcome& answer) { refused.emplace(answer); });
  auto absent = story.producer().flush(history::topic(), 99);
  auto idle = story.producer().flush(history::topic(), 1);
  auto busy = story.producer().flush(history::topic(), 0);
  EXPECT_FALSE(absent.done());
  EXPECT_TRUE(done_within(story, absent, milliseconds(1500)));
  EXPECT_TRUE(done_within(story, idle, milliseconds(100)));
  ASSERT_TRUE(refused && refused->failure() != nullptr);
  EXPECT_EQ(refused->failure()->code, client_errc::invalid_partition);
  EXPECT_EQ(story.answered(), 0U);
  EXPECT_FALSE(busy.done());
  EXPECT_EQ(wait_for(story.world(), std::move(busy)).delivered, 1U);
}

// What else is asked of such a partition is done at once and changes nothing.
TEST(FlushScope, APartitionThatTheTopicHasNotIsNotControlledEither) {
  history story({});
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  producer& owner = story.producer();
  for (const int absent : {99, -1}) {
    EXPECT_FALSE(wait_for(story.world(), owner.pause(history::topic(), absent)));
    EXPECT_FALSE(
        wait_for(story.world(), owner.pause(history::topic(), absent, pause_mode::abort_buffered)));
    EXPECT_FALSE(wait_for(story.world(), owner.resume(history::topic(), absent)));
    EXPECT_FALSE(wait_for(story.world(), owner.halt(history::topic(), absent)));
    EXPECT_FALSE(wait_for(story.world(), owner.halt(history::topic(), absent, "k")));
    const auto report =
        wait_for(story.world(), owner.recover(history::topic(), absent, recovery::resubmit));
    EXPECT_FALSE(report.was_halted);
  }
}

}  // namespace
}  // namespace partita::testing
