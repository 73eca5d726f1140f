#include <partita/operation.hpp>

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <string>
#include <utility>

namespace partita {
namespace {

using testing::broken_contract;
using testing::contract_guard;

/// An operation, and the work behind it.
struct begun {
  detail::operation_state<std::string>* state = new detail::operation_state<std::string>;
  operation<std::string> waits{*state};

  begun() { state->retain(); }
  ~begun() { state->release(); }
  void end(std::string result) const {
    state->result.emplace(std::move(result));
    state->open();
  }
};

/// A coroutine whose frame the test ends.
struct owned_coroutine {
  struct promise_type {
    owned_coroutine get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

owned_coroutine await(operation<std::string> waited, std::string& into) {
  into = co_await std::move(waited);
}

std::string what_is_said(auto use) {
  const contract_guard guard;
  try {
    use();
  } catch (const broken_contract& broken) {
    return broken.what();
  }
  return "nothing";
}

TEST(Operation, OneThatWasMovedFromSaysSo) {
  begun work;
  operation<std::string> moved(std::move(work.waits));
  EXPECT_NE(what_is_said([&] { static_cast<void>(work.waits.done()); }).find("moved from"),
            std::string::npos);
  EXPECT_NE(what_is_said([&] { std::move(work.waits).get(); }).find("moved from"),
            std::string::npos);
  EXPECT_NE(what_is_said([&] {
              std::move(work.waits).then([](const std::string&) {});
            }).find("moved from"),
            std::string::npos);
  EXPECT_NE(what_is_said([&] {
              static_cast<void>(std::move(work.waits).operator co_await());
            }).find("moved from"),
            std::string::npos);
  work.end("told");
  EXPECT_EQ(std::move(moved).get(), "told");
}

TEST(Operation, GivesItsResultOnce) {
  begun work;
  work.end("told");
  EXPECT_EQ(std::move(work.waits).get(), "told");
  EXPECT_NE(what_is_said([&] { std::move(work.waits).get(); }).find("given its result"),
            std::string::npos);
}

TEST(Operation, AnAssignedOneLeavesNothingBehind) {
  begun one;
  begun other;
  one.end("one");
  other.end("other");
  one.waits = std::move(other.waits);
  EXPECT_EQ(std::move(one.waits).get(), "other");
  EXPECT_NE(what_is_said([&] { std::move(other.waits).get(); }), "nothing");
}

TEST(Operation, ACoroutineThatWaitsIsContinued) {
  begun work;
  std::string told;
  const owned_coroutine waiting = await(std::move(work.waits), told);
  EXPECT_FALSE(waiting.handle.done());
  work.end("told");
  EXPECT_TRUE(waiting.handle.done());
  EXPECT_EQ(told, "told");
  waiting.handle.destroy();
}

TEST(Operation, ACoroutineMayBeDestroyedWhileItWaits) {
  begun work;
  std::string told = "nothing";
  const owned_coroutine waiting = await(std::move(work.waits), told);
  waiting.handle.destroy();
  work.end("told");
  EXPECT_EQ(told, "nothing");
}

}  // namespace
}  // namespace partita
