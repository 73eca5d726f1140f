#include <partita/testing/mock_producer.hpp>

#include "tests/builders/contract_guard.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

record to(std::string_view value, std::string_view key = "k") {
  return {.topic = "t", .key = key, .value = value};
}

/// What the answers were, as letters: D, N, U.
struct letters {
  std::string seen;
  std::optional<failed> first_failure{};
  auto operator()() {
    return [this](const outcome& answer) {
      const auto* failure = answer.failure();
      seen += failure == nullptr ? 'D' : failure->fate == fate::unknown ? 'U' : 'N';
      if (failure != nullptr && !first_failure) first_failure = *failure;
    };
  }
};

struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

detached await_one(mock_producer& producer, std::string_view value, std::vector<outcome>& answers) {
  answers.push_back(co_await producer.produce(to(value)));
}

TEST(MockProducer, DeliversAtOnceByDefaultAtDenseOffsets) {
  mock_producer producer;
  std::vector<outcome> answers;
  await_one(producer, "a", answers);
  await_one(producer, "b", answers);
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_TRUE(answers[1].is_delivered());
  EXPECT_EQ(answers[1].delivery()->offset, offset{1});
  ASSERT_EQ(producer.log("t", 0).size(), 2U);
  EXPECT_EQ(producer.log("t", 0)[1].value, "b");
}

TEST(MockProducer, AnswersAsTheTestSaysInOrder) {
  mock_producer producer{{.auto_complete = false, .on_failure = failure_policy::skip}};
  letters answers;
  std::vector<outcome> awaited;
  producer.produce(to("a"), answers());
  producer.produce(to("b"), answers());
  await_one(producer, "c", awaited);
  EXPECT_EQ(producer.pending(), 3U);
  EXPECT_TRUE(producer.fail_next(broker_errc::message_too_large));
  EXPECT_TRUE(producer.doubt_next(client_errc::answer_lost));
  EXPECT_EQ(answers.seen, "NU");
  EXPECT_TRUE(producer.deliver_next());
  EXPECT_FALSE(producer.deliver_next());
  ASSERT_EQ(awaited.size(), 1U);
  EXPECT_EQ(awaited[0].delivery()->offset, offset{1}) << "behind the one in doubt";
  EXPECT_EQ(producer.history()[1].answer->failure()->code, client_errc::answer_lost);
  EXPECT_NE(producer.history()[1].answer->failure()->ticket.value, 0U);
}

TEST(MockProducer, HaltsBeforeTheCallbackIsCalled) {
  mock_producer producer{{.auto_complete = false}};
  std::error_code inside;
  producer.produce(to("a"), [&](const outcome&) {
    producer.produce(to("b"), [&](const outcome& answer) { inside = answer.failure()->code; });
  });
  producer.fail_next(broker_errc::topic_authorization_failed);
  EXPECT_EQ(inside, client_errc::halted);
  EXPECT_TRUE(producer.halted("t", 0));
}

TEST(MockProducer, RecoverHandsBackOrResubmits) {
  mock_producer producer{{.auto_complete = false}};
  letters answers;
  producer.produce(to("a"), answers());
  producer.produce(to("b"), answers());
  producer.fail_next(broker_errc::message_too_large);
  EXPECT_FALSE(producer.deliver_next());  // b stands behind the halt
  auto recovering = producer.recover("t", 0, recovery::resubmit);
  EXPECT_FALSE(recovering.done());
  EXPECT_EQ(producer.deliver_all(), 2U);
  auto again = std::move(recovering).get();
  EXPECT_TRUE(again.was_halted);
  ASSERT_EQ(again.resubmitted.size(), 1U);
  EXPECT_TRUE(again.resubmitted[0].answer.is_delivered());
  EXPECT_EQ(answers.seen, "ND");
  EXPECT_EQ(again.resubmitted[0].number, answers.first_failure->number);
  ASSERT_EQ(producer.log("t", 0).size(), 2U);
  EXPECT_EQ(producer.log("t", 0)[0].value, "a");

  producer.produce(to("c"), answers());
  producer.fail_next(broker_errc::message_too_large);
  const auto taken = producer.recover("t", 0, recovery::take).get();
  ASSERT_EQ(taken.taken.size(), 1U);
  EXPECT_EQ(taken.taken[0].record.value, "c");
  EXPECT_FALSE(producer.recover("t", 0, recovery::discard).get().was_halted);
}

TEST(MockProducer, DoubtIsNotResubmittedWithoutLeave) {
  mock_producer producer{{.auto_complete = false}};
  letters answers;
  producer.produce(to("a"), answers());
  producer.doubt_next(client_errc::answer_lost);
  const auto left = producer.recover("t", 0, recovery::resubmit).get();
  EXPECT_EQ(left.left_out.size(), 1U);
  EXPECT_TRUE(left.resubmitted.empty());
}

TEST(MockProducer, HaltsOfAKeyLeaveOtherKeysAlone) {
  mock_producer producer{{.auto_complete = false, .on_failure = failure_policy::halt_key}};
  letters answers;
  producer.produce(to("a", "k1"), answers());
  producer.produce(to("b", "k2"), answers());
  producer.fail_next(broker_errc::message_too_large);
  producer.produce(to("c", "k1"), answers());  // refused
  EXPECT_EQ(producer.deliver_all(), 1U);
  EXPECT_EQ(answers.seen, "NND");
}

TEST(MockProducer, FailFollowingFailsWhatIsBuffered) {
  mock_producer producer{{.auto_complete = false, .on_failure = failure_policy::fail_following}};
  letters answers;
  producer.produce(to("a"), answers());
  producer.produce(to("b"), answers());
  producer.fail_next(broker_errc::message_too_large);
  EXPECT_EQ(answers.seen, "NN");
  producer.produce(to("c"), answers());
  producer.deliver_all();
  EXPECT_EQ(answers.seen, "NND");
}

TEST(MockProducer, FlushPauseBatchesAndClose) {
  mock_producer producer;
  letters answers;
  EXPECT_TRUE(producer.pause("t", 0).get());
  producer.produce(to("a"), answers());
  EXPECT_EQ(producer.pending(), 1U);
  auto flushed = producer.flush();
  EXPECT_FALSE(flushed.done());
  EXPECT_TRUE(producer.resume("t", 0).get());
  ASSERT_TRUE(flushed.done());
  EXPECT_EQ(std::move(flushed).get().delivered, 1U);
  EXPECT_FALSE(producer.pause("t", 7).get());

  const std::vector<record> records = {to("b"), to("c")};
  const auto batch = producer.produce_batch(records).get();
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch[1].delivery()->offset, offset{2});

  producer.set_auto_complete(false);
  producer.produce(to("d"), answers());
  const auto report = producer.close(std::chrono::milliseconds{1}).get();
  ASSERT_EQ(report.unsent.size(), 1U);
  EXPECT_EQ(report.unsent[0].value, "d");
  EXPECT_EQ(answers.seen, "DN");
  EXPECT_EQ(producer.try_produce(to("e"), answers()), admission::closed);
}

TEST(MockProducer, ABatchTellsEachOutcomeWhenItIsKnown) {
  mock_producer producer{{.auto_complete = false}};
  const std::vector<record> records = {to("a"), record{.topic = "a b"}, to("b")};
  std::string seen;
  producer.produce_batch(records, [&](std::size_t index, const outcome& answer) {
    seen += std::to_string(index) + (answer.is_delivered() ? "D" : "N");
  });
  EXPECT_EQ(seen, "1N") << "what is refused is told inside the call";
  EXPECT_TRUE(producer.deliver_next());
  EXPECT_EQ(seen, "1N0D");
  EXPECT_TRUE(producer.fail_next(broker_errc::invalid_record));
  EXPECT_EQ(seen, "1N0D2N");
}

TEST(MockProducer, TheDestructorAnswersWhatIsLeft) {
  letters answers;
  {
    mock_producer producer{{.auto_complete = false}};
    producer.produce(to("a"), answers());
  }
  EXPECT_EQ(answers.seen, "N");
}

TEST(MockProducer, HasALimit) {
  mock_producer producer{{.auto_complete = false, .records_max = 1}};
  letters answers;
  producer.produce(to("a"), answers());
  EXPECT_EQ(producer.try_produce(to("b"), answers()), admission::full);
  producer.produce(to("b"), answers());
  EXPECT_EQ(answers.seen, "N");
}

/// Everything an application uses; that this compiles for both is the test.
template <class Producer>
detached use_all(Producer& producer, resume_executor& executor) {
  const record one = to("a");
  const std::vector<record> records = {one};
  const auto callback = [](const outcome&) {};
  produce_options options;
  options.handle = record_handle::make();
  producer.produce(one, callback);
  producer.produce(one, options, callback);
  static_cast<void>(producer.try_produce(one, callback));
  static_cast<void>(producer.try_produce(one, options, callback));
  static_cast<void>(co_await producer.produce(one));
  static_cast<void>(co_await producer.produce(one, options));
  static_cast<void>(co_await producer.produce(one).resume_on(executor));
  static_cast<void>(co_await producer.produce_batch(records));
  static_cast<void>(co_await producer.produce_batch(records, options));
  producer.produce_batch(records, [](std::size_t, const outcome&) {});
  producer.produce_batch(records, options, [](std::size_t, const outcome&) {});
  producer.cancel(options.handle);
  static_cast<void>(co_await producer.flush());
  static_cast<void>(co_await producer.flush("t"));
  static_cast<void>(co_await producer.flush("t", 0));
  producer.pause("t", 0);
  producer.pause("t", 0, pause_mode::abort_buffered);
  producer.resume("t", 0);
  producer.halt("t", 0);
  producer.halt("t", 0, "k");
  static_cast<void>(co_await producer.recover("t", 0, recovery::discard));
  static_cast<void>(co_await producer.recover("t", 0, "k", recovery::take, recover_options{}));
  static_cast<void>(co_await producer.settle(ticket{1}));
  const producer_status status = co_await producer.status();
  event_stream events = producer.events(16);
  static_cast<void>(events.lost());
  static_cast<void>(status);
  static_cast<void>(co_await producer.close(std::chrono::milliseconds{1}));
}
[[maybe_unused]] constexpr auto use_of_the_producer = &use_all<partita::producer>;

struct at_once final : resume_executor {
  void resume(std::span<const std::coroutine_handle<>> run) noexcept override {
    resumed += run.size();
    for (const auto& each : run) each.resume();
  }
  std::size_t resumed = 0;
};

TEST(MockProducer, HasWhatAnApplicationUses) {
  mock_producer producer;
  at_once executor;
  use_all(producer, executor);
  EXPECT_EQ(producer.try_produce(to("late"), [](const outcome&) {}), admission::closed)
      << "it went through to its end";
}

TEST(MockProducer, ResumesOnTheExecutor) {
  mock_producer producer{{.auto_complete = false}};
  at_once executor;
  std::vector<outcome> answers;
  [](mock_producer& to_it, at_once& on, std::vector<outcome>& into) -> detached {
    into.push_back(co_await to_it.produce(to("a")).resume_on(on));
  }(producer, executor, answers);
  producer.deliver_next();
  EXPECT_EQ(executor.resumed, 1U);
  EXPECT_EQ(answers.size(), 1U);
}

TEST(MockProducer, HaltsAsTheProducerDoesByDefault) {
  mock_producer producer{{.auto_complete = false}};
  letters answers;
  producer.produce(to("a", "k1"), answers());
  producer.produce(to("b", "k2"), answers());
  producer.produce({.topic = "t", .value = "c"}, answers());
  producer.fail_next(broker_errc::message_too_large);
  EXPECT_EQ(producer.deliver_all(), 2U) << "other keys, and records without one, go on";
  EXPECT_EQ(answers.seen, "NDD");
}

TEST(MockProducer, RecoversOneKey) {
  mock_producer producer{{.auto_complete = false}};
  letters answers;
  for (const char* key : {"k1", "k2"}) producer.produce(to("a", key), answers());
  producer.fail_next(broker_errc::message_too_large);
  producer.fail_next(broker_errc::message_too_large);
  auto recovering = producer.recover("t", 0, "k1", recovery::resubmit);
  EXPECT_TRUE(producer.deliver_next());
  const auto one = std::move(recovering).get();
  EXPECT_TRUE(one.was_halted);
  EXPECT_EQ(one.resubmitted.size(), 1U);
  EXPECT_TRUE(producer.halted("t", 0)) << "k2 still is";
  EXPECT_FALSE(producer.recover("t", 0, "k1", recovery::resubmit).get().was_halted);
  EXPECT_EQ(producer.recover("t", 0, "k2", recovery::discard).get().discarded, 1U);
}

TEST(MockProducer, TakeHandsBackWhatWasHeldToo) {
  mock_producer producer{{.auto_complete = false}};
  letters answers;
  producer.produce(to("a"), answers());
  producer.produce(to("b"), answers());
  producer.fail_next(broker_errc::message_too_large);
  const auto report = producer.recover("t", 0, recovery::take).get();
  ASSERT_EQ(report.taken.size(), 2U);
  EXPECT_EQ(report.taken[0].record.value, "a");
  EXPECT_EQ(report.taken[1].record.value, "b");
  EXPECT_EQ(report.taken[1].answer.code, client_errc::handed_back);
  EXPECT_EQ(answers.seen, "NN");
}

TEST(MockProducer, HaltsByHand) {
  mock_producer producer;
  letters answers;
  EXPECT_TRUE(producer.halt("t", 0, "k1").get());
  EXPECT_FALSE(producer.halt("t", 5).get()) << "no such partition";
  producer.produce(to("a", "k1"), answers());
  producer.produce(to("b", "k2"), answers());
  EXPECT_EQ(answers.seen, "ND");
  EXPECT_EQ(answers.first_failure->cause, client_errc::halt_requested);
}

TEST(MockProducer, SettlesAsTheTestSays) {
  mock_producer producer{{.auto_complete = false, .on_failure = failure_policy::skip}};
  letters answers;
  for (const char* value : {"a", "b", "c"}) producer.produce(to(value), answers());
  while (producer.doubt_next(client_errc::answer_lost)) {
  }
  const ticket first = answers.first_failure->ticket;
  const ticket second{first.value + 1};
  auto early = producer.settle(first);
  EXPECT_FALSE(early.done());
  EXPECT_TRUE(producer.settle_as_written(first));
  EXPECT_FALSE(producer.settle_as_written(first));
  EXPECT_TRUE(std::move(early).get().is_delivered());
  EXPECT_EQ(producer.log("t", 0).size(), 1U);
  EXPECT_TRUE(producer.settle_as_never_written(second));
  EXPECT_TRUE(producer.settle(second).get().is_never_written());
  auto never = producer.settle({first.value + 2});
  EXPECT_EQ(producer.settle({99}).get().undecided()->reason, client_errc::ticket_unknown);
  static_cast<void>(producer.close(std::chrono::milliseconds{1}));
  EXPECT_EQ(std::move(never).get().undecided()->reason, client_errc::closed);
}

TEST(MockProducer, ARecordInDoubtLiesBeforeWhatCameLater) {
  mock_producer producer{{.auto_complete = false, .on_failure = failure_policy::skip}};
  std::vector<std::int64_t> offsets;
  std::vector<ticket> doubted;
  const auto note = [&](const outcome& answer) {
    if (answer)
      offsets.push_back(answer.delivery()->offset->value);
    else
      doubted.push_back(answer.failure()->ticket);
  };
  for (const char* value : {"a", "b", "c", "d"}) producer.produce(to(value), note);
  producer.doubt_next(client_errc::request_timeout);
  producer.doubt_next(client_errc::request_timeout);
  producer.deliver_all();
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(doubted.size(), 2U);
  EXPECT_TRUE(producer.settle_as_never_written(doubted[0]));
  const auto log = [&] {
    std::string values;
    for (const auto& each : producer.log("t", 0)) values += *each.value;
    return values;
  };
  EXPECT_EQ(log(), "cd");
  EXPECT_TRUE(producer.settle_as_written(doubted[1]));
  EXPECT_EQ(producer.settle(doubted[1]).get().delivery()->offset, offset{1});
  EXPECT_EQ(log(), "bcd");
  EXPECT_EQ(producer.status().get().partitions[0].last_offset, offset{3});
}

TEST(MockProducer, TellsStatusAndEvents) {
  mock_producer producer{{.auto_complete = false}};
  event_stream events = producer.events();
  letters answers;
  producer.produce(to("a"), answers());
  producer.produce(to("b"), answers());
  producer.fail_next(broker_errc::message_too_large);
  const producer_status status = producer.status().get();
  ASSERT_EQ(status.partitions.size(), 1U);
  EXPECT_EQ(status.partitions[0].halted_keys, 1U);
  EXPECT_EQ(status.partitions[0].failed_records_kept, 1U);
  EXPECT_EQ(status.partitions[0].held_records, 1U);
  EXPECT_EQ(status.partitions[0].answered, (tally{0, 1, 0}));
  static_cast<void>(producer.recover("t", 0, recovery::discard));
  const auto halted = events.next().get();
  ASSERT_TRUE(halted);
  EXPECT_EQ(halted->change, partition_change::halted);
  EXPECT_EQ(halted->keys, std::vector<std::string>{"k"});
  EXPECT_EQ(events.next().get()->change, partition_change::resumed);
}

TEST(MockProducer, CancelsWhatWaits) {
  mock_producer producer{{.auto_complete = false}};
  letters answers;
  produce_options options;
  options.handle = record_handle::make();
  producer.produce(to("a"), options, answers());
  EXPECT_TRUE(producer.cancel(options.handle));
  EXPECT_EQ(answers.seen, "N");
  EXPECT_EQ(answers.first_failure->code, client_errc::cancelled);
  EXPECT_FALSE(producer.halted("t", 0));
  producer.produce(to("b"), options, answers());  // cancelled before
  EXPECT_EQ(answers.seen, "NN");
}

TEST(MockProducer, ACallbackThatProducesAgainDoesNotGoDeeper) {
  mock_producer producer;
  EXPECT_TRUE(producer.halt("t", 0).get());
  int refused = 0;
  std::function<void(const outcome&)> again = [&](const outcome&) {
    if (++refused < 200'000) producer.produce(to("a"), again);
  };
  producer.produce(to("a"), again);
  EXPECT_EQ(refused, 200'000);
}

TEST(MockProducer, ACallbackThatThrowsIsCounted) {
  mock_producer producer;
  letters answers;
  producer.produce(to("a"), [](const outcome&) { throw std::runtime_error("of the application"); });
  producer.produce(to("b"), answers());
  EXPECT_EQ(answers.seen, "D");
  EXPECT_EQ(producer.status().get().callback_exceptions, 1U);
}

TEST(MockProducer, WhatProduceReturnsIsStartedOnce) {
  const contract_guard guard;
  mock_producer producer;
  std::string said;
  const auto twice = [](mock_producer& to_it, std::string& into) -> detached {
    auto sends = to_it.produce(to("a"));
    static_cast<void>(co_await std::move(sends));
    try {
      static_cast<void>(co_await std::move(sends));
    } catch (const broken_contract& broken) {
      into = broken.what();
    }
  };
  twice(producer, said);
  EXPECT_NE(said.find("started a second time"), std::string::npos);
  EXPECT_EQ(producer.log("t", 0).size(), 1U);
}

TEST(MockProducer, ExceptionsOfThenAreCounted) {
  mock_producer producer;
  producer.flush().then([](const tally&) { throw std::runtime_error("dropped"); });
  producer.pause("t", 0).then([](bool) { throw std::runtime_error("dropped"); });
  EXPECT_EQ(producer.status().get().callback_exceptions, 2U);
}

TEST(MockProducer, ACoroutineMayBeDestroyedWhileItWaits) {
  struct owned {
    struct promise_type {
      owned get_return_object() noexcept {
        return {std::coroutine_handle<promise_type>::from_promise(*this)};
      }
      std::suspend_never initial_suspend() noexcept { return {}; }
      std::suspend_always final_suspend() noexcept { return {}; }
      void return_void() noexcept {}
      void unhandled_exception() noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
  };
  mock_producer producer{{.auto_complete = false}};
  bool continued = false;
  const auto waits = [](mock_producer& to_it, bool& on) -> owned {
    static_cast<void>(co_await to_it.produce(to("a")));
    on = true;
  };
  waits(producer, continued).handle.destroy();
  EXPECT_TRUE(producer.deliver_next());
  EXPECT_FALSE(continued);
}

}  // namespace
}  // namespace partita::testing
