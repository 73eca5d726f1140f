// <partita/asio.hpp> against embedded brokers on loopback.
#include <partita/asio.hpp>

#include "tests/builders/contract_guard.hpp"

#include <partita/testing/cluster.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace partita {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Asio : public ::testing::Test {
 protected:
  Asio() : cluster_({.brokers = 1, .topics = {{"t", {.partitions = 1}}}}) {}

  producer_config config() const {
    producer_config made;
    made.bootstrap_servers = cluster_.bootstrap();
    made.linger = 0ms;
    return made;
  }

  testing::loopback_cluster cluster_;
  asio::io_context loop_{1};
};

TEST_F(Asio, AnAwaitableContinuesOnItsOwnExecutor) {
  producer producer(config());
  std::optional<bool> delivered;
  std::thread::id resumed_on;
  asio::co_spawn(
      loop_,
      [&]() -> asio::awaitable<void> {
        const outcome answer = co_await producer.produce({.topic = "t", .key = "k", .value = "v"});
        delivered = answer.is_delivered();
        resumed_on = std::this_thread::get_id();
      },
      asio::detached);
  loop_.run();  // does not return before the answer: the record counts as work
  EXPECT_EQ(delivered, true);
  EXPECT_EQ(resumed_on, std::this_thread::get_id());
}

TEST_F(Asio, UseAwaitableAndFuturesWorkToo) {
  producer producer(config());
  bool delivered = false;
  asio::co_spawn(
      loop_,
      [&]() -> asio::awaitable<void> {
        const outcome answer =
            co_await producer.produce({.topic = "t", .value = "v"})(asio::use_awaitable);
        delivered = answer.is_delivered();
      },
      asio::detached);
  loop_.run();
  EXPECT_TRUE(delivered);
  std::future<outcome> later = producer.produce({.topic = "t", .value = "v"})(asio::use_future);
  EXPECT_TRUE(later.get().is_delivered());
}

TEST_F(Asio, WhatProduceReturnsIsStartedOnce) {
  producer producer(config());
  auto sends = producer.produce({.topic = "t", .value = "v"});
  std::future<outcome> told = std::move(sends)(asio::use_future);
  const testing::contract_guard guard;
  EXPECT_THROW(std::move(sends)([](const outcome&) {}), testing::broken_contract);
  EXPECT_TRUE(told.get().is_delivered());
}

TEST_F(Asio, HandlersOfOneExecutorAreCalledInOrder) {
  producer producer(config());
  std::vector<int> order;
  std::vector<std::int64_t> offsets;
  for (int i = 0; i < 1000; ++i)
    producer.produce({.topic = "t", .value = "v"})(
        asio::bind_executor(loop_, [&, i](const outcome& answer) {
          order.push_back(i);
          if (answer) offsets.push_back(answer.delivery()->offset->value);
        }));
  loop_.run();
  ASSERT_EQ(order.size(), 1000U);
  ASSERT_EQ(offsets.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
}

TEST_F(Asio, AnAnswerThatIsThereAtOnceStillComesLater) {
  producer producer(config());
  int calls = 0;
  producer.produce({.topic = "not a topic", .value = "v"})(
      asio::bind_executor(loop_, [&](const outcome& answer) {
        ++calls;
        EXPECT_EQ(answer.failure()->code, client_errc::invalid_topic);
      }));
  EXPECT_EQ(calls, 0);
  loop_.run();
  EXPECT_EQ(calls, 1);
}

TEST_F(Asio, AThrowingHandlerCostsNoOtherItsCall) {
  producer producer(config());
  int called = 0;
  for (int i = 0; i < 10; ++i)
    producer.produce({.topic = "not a topic"})(asio::bind_executor(loop_, [&, i](const outcome&) {
      ++called;
      if (i == 3) throw std::runtime_error("thrown by the test");
    }));
  EXPECT_THROW(loop_.run(), std::runtime_error);
  loop_.restart();
  loop_.run();
  EXPECT_EQ(called, 10);
}

TEST_F(Asio, AContextThatEndsFirstDestroysItsHandlers) {
  auto loop = std::make_unique<asio::io_context>(1);
  auto token = std::make_shared<int>(0);
  cluster_.pause_broker(1);
  producer producer(config());
  for (int i = 0; i < 5; ++i)
    producer.produce({.topic = "t", .value = "v"})(asio::bind_executor(
        *loop, [token](const outcome&) { FAIL() << "called after the end of its context"; }));
  EXPECT_EQ(token.use_count(), 6);
  loop.reset();
  EXPECT_EQ(token.use_count(), 1);
  cluster_.resume_broker(1);
  EXPECT_EQ(producer.flush().get().total(), 5U);
}

TEST_F(Asio, ACoroutineThatOwnsItsProducerMayDieWithTheContext) {
  auto loop = std::make_unique<asio::io_context>(1);
  cluster_.pause_broker(1);
  bool started = false;
  asio::co_spawn(
      *loop,
      [&]() -> asio::awaitable<void> {
        producer own(config());
        started = true;
        static_cast<void>(co_await own.produce({.topic = "t", .value = "v"}));
        ADD_FAILURE() << "answered";
      },
      asio::detached);
  loop->poll();
  EXPECT_TRUE(started);
  loop.reset();
}

/// As an io_context of Boost 1.82 and later.
struct shut_down_twice : asio::io_context {
  ~shut_down_twice() { shutdown(); }
};

// The producer ends with what is queued on the context, and answers its record there: nothing
// holds the sink any more when the context looks at its services once more.
TEST_F(Asio, AContextMayShutItsServicesDownTwice) {
  auto loop = std::make_unique<shut_down_twice>();
  cluster_.pause_broker(1);
  auto owned = std::make_unique<producer>(config());
  int called = 0;
  owned->produce({.topic = "t", .value = "v"})(
      asio::bind_executor(*loop, [&called](const outcome&) { ++called; }));
  asio::post(*loop, [owned = std::move(owned)] {});
  loop.reset();
  EXPECT_EQ(called, 0);
}

TEST_F(Asio, AContextThatShutItsServicesDownTwiceOwesNoRecordItsAnswer) {
  auto loop = std::make_unique<shut_down_twice>();
  cluster_.pause_broker(1);
  producer lives(config());
  int called = 0;
  lives.produce({.topic = "t", .value = "v"})(
      asio::bind_executor(*loop, [&called](const outcome&) { ++called; }));
  loop.reset();
  cluster_.resume_broker(1);
  EXPECT_EQ(lives.flush().get().delivered, 1U);
  EXPECT_EQ(called, 0);
}

TEST_F(Asio, ARecordThatWaitsForRoomIsCopied) {
  producer_config small = config();
  small.buffer_memory_bytes = 4096;
  small.batch_size_bytes = 1024;
  producer producer(small);
  constexpr int count = 200;
  int delivered = 0;
  for (int i = 0; i < count; ++i) {
    std::string value(500, static_cast<char>('a' + i % 26));
    const header headers[] = {{"h", "x"}};
    producer.produce({.topic = "t", .value = value, .headers = headers})(
        asio::bind_executor(loop_, [&](const outcome& answer) { delivered += answer ? 1 : 0; }));
    value.assign(500, '!');
  }
  loop_.run();
  EXPECT_EQ(delivered, count);
  const auto log = cluster_.log("t", 0);
  ASSERT_EQ(log.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(log[static_cast<std::size_t>(i)].value,
              std::string(500, static_cast<char>('a' + i % 26)));
    EXPECT_EQ(log[static_cast<std::size_t>(i)].headers.size(), 1U);
  }
}

TEST_F(Asio, AStrandKeepsItsHandlersApartAndInOrder) {
  asio::io_context pool;
  producer producer(config());
  const auto strand = asio::make_strand(pool);
  std::vector<int> order;  // unguarded: the strand guards it
  for (int i = 0; i < 500; ++i)
    producer.produce({.topic = "t", .value = "v"})(
        asio::bind_executor(strand, [&, i](const outcome&) { order.push_back(i); }));
  std::thread other([&] { pool.run(); });
  pool.run();
  other.join();
  ASSERT_EQ(order.size(), 500U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// The usual strand in a coroutine: its executor is any_io_executor, for which no work guard
// compiles.
TEST_F(Asio, AStrandOfAnyExecutorTakesHandlersToo) {
  producer producer(config());
  int delivered = 0;
  int flushed = 0;
  asio::co_spawn(
      loop_,
      [&]() -> asio::awaitable<void> {
        const auto strand = asio::make_strand(co_await asio::this_coro::executor);
        producer.produce({.topic = "t", .value = "v"})(asio::bind_executor(
            strand, [&](const outcome& answer) { delivered += answer.is_delivered() ? 1 : 0; }));
        async_wait(producer.flush(), asio::bind_executor(strand, [&](const tally&) { ++flushed; }));
      },
      asio::detached);
  loop_.run();  // returns when both were called
  EXPECT_EQ(delivered, 1);
  EXPECT_EQ(flushed, 1);
}

TEST_F(Asio, AProducerRunsOnTheLoopOfTheApplication) {
  auto on_loop = make_producer_on(loop_, config());
  std::optional<bool> delivered;
  std::optional<std::uint64_t> unanswered;
  asio::co_spawn(
      loop_,
      [&]() -> asio::awaitable<void> {
        const outcome answer = co_await on_loop->produce({.topic = "t", .value = "v"});
        delivered = answer.is_delivered();
        const tally counts = co_await async_wait(on_loop->flush());
        unanswered = counts.total();
        static_cast<void>(co_await async_wait(on_loop->close(5s)));
        on_loop.reset();
      },
      asio::detached);
  loop_.run();  // returns because nothing of the producer is left
  EXPECT_EQ(delivered, true);
  EXPECT_EQ(unanswered, 0U);
}

// Named, not a fault in freed memory.
void outlive_the_loop(const producer_config& config) {
  auto loop = std::make_unique<asio::io_context>(1);
  const auto on_loop = make_producer_on(*loop, config);
  loop.reset();
}

TEST_F(Asio, ALoopThatEndsBeforeItsProducerIsABrokenContract) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(outlive_the_loop(config()),
               "the io_context of a producer was destroyed before the producer");
}

TEST_F(Asio, AProducerMayEndWithAHandlerThatTheLoopDestroys) {
  bool ended = false;
  {
    asio::io_context loop{1};
    std::shared_ptr<producer> on_loop = make_producer_on(loop, config());
    on_loop->produce({.topic = "t", .value = "v"}, [&](const outcome&) { ended = true; });
    asio::post(loop, [on_loop = std::move(on_loop)] {});
  }
  EXPECT_TRUE(ended);
}

TEST_F(Asio, AnEmptyFunctionIsNoToken) {
  producer producer(config());
  const testing::contract_guard guard;
  EXPECT_THROW(producer.produce({.topic = "t"})(std::function<void(outcome)>{}),
               testing::broken_contract);
  EXPECT_THROW(async_wait(producer.flush(), std::function<void(tally)>{}),
               testing::broken_contract);
}

TEST_F(Asio, AWrongConfigurationIsRefusedBeforeAnythingStarts) {
  EXPECT_THROW(static_cast<void>(make_producer_on(loop_, producer_config{})), std::system_error);
}

}  // namespace
}  // namespace partita
