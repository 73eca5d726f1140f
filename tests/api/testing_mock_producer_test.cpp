#include <partita/testing/mock_producer.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <string>
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
  EXPECT_EQ(awaited[0].delivery()->offset, offset{0});
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
  auto again = producer.recover("t", 0, recovery::resubmit).get();
  EXPECT_TRUE(again.was_halted);
  ASSERT_EQ(again.resubmitted.size(), 1U);
  EXPECT_TRUE(again.resubmitted[0].answer.is_delivered());
  EXPECT_EQ(producer.deliver_all(), 1U);
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

}  // namespace
}  // namespace partita::testing
