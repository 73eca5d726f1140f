// A topic that is dropped and made again on a cluster without topic ids: its leader epochs begin
// anew, and nothing but that tells.
#include "tests/sim/metadata_stage.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::testing {
namespace {

using namespace metadata_stage;  // NOLINT: the words of this file

/// As before Kafka 2.8: no answer names a topic's id.
void forget_ids(history& story) { story.cluster().offer(api::metadata, 0, 9); }

int other_than(broker_id one) { return one.value % 3 + 1; }

/// Moves the leader of partition 0 around; the producer follows.
void raise_epochs(history& story) {
  for (int i = 0; i < 4; ++i) {
    const broker_id before = story.cluster().view(topic, 0)->leader;
    ASSERT_TRUE(story.cluster().move_leader(topic, 0, other_than(before)));
    const std::size_t each = produce(story, 0);
    ASSERT_TRUE(answered_within(story, seconds(3)));
    ASSERT_TRUE(story.answer(each).is_delivered()) << i;
  }
}

/// With another leader than the one that the producer knows. Nobody sees it gone.
void make_again(history& story) {
  const int former = story.cluster().view(topic, 0)->leader.value;
  const int next = other_than(former);
  const int third = 6 - former - next;
  ASSERT_EQ(story.cluster().delete_topic(topic), broker_errc::none);
  topic_options options;
  options.replicas = {{next, third, former}, {third, next, former}, {former, next, third}};
  ASSERT_EQ(story.cluster().create_topic(topic, options), broker_errc::none);
}

TEST(MadeAgain, IsSeenByItsEpochsAndGoneOnWithAfterRecover) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    history_options options = stage();
    options.seed = seed;
    history story(options);
    forget_ids(story);
    warm_up(story);
    raise_epochs(story);
    make_again(story);

    const std::size_t a = produce(story, 0);
    ASSERT_TRUE(answered_within(story, seconds(8))) << "before its deadline";

    ASSERT_NE(story.answer(a).failure(), nullptr);
    EXPECT_EQ(story.answer(a).failure()->code, make_error_code(client_errc::topic_replaced));
    EXPECT_EQ(story.answer(a).failure()->fate, fate::unknown) << "a refusal by 6 proves nothing";
    const auto report =
        wait_for(story.world(), story.producer().recover(topic, 0, recovery::discard));
    EXPECT_TRUE(report.was_halted);
    for (int i = 0; i < 3; ++i) {
      const std::size_t b = produce(story, 0);
      ASSERT_TRUE(answered_within(story, seconds(2))) << seed;
      ASSERT_TRUE(story.answer(b).is_delivered()) << seed;
      EXPECT_EQ(story.answer(b).delivery()->offset, offset(i));
    }
    const auto status = wait_for(story.world(), story.producer().status());
    EXPECT_EQ(status.contradictions, 0U);
  }
}

TEST(MadeAgain, WithItsFormerLeaderGoneItIsSeenToo) {
  history story(stage());
  forget_ids(story);
  warm_up(story);
  raise_epochs(story);
  const broker_id former = story.cluster().view(topic, 0)->leader;
  make_again(story);
  story.cluster().stop_broker(former);
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(9)));
  ASSERT_NE(story.answer(a).failure(), nullptr);
  EXPECT_EQ(story.answer(a).failure()->code, make_error_code(client_errc::topic_replaced));
  wait_for(story.world(), story.producer().recover(topic, 0, recovery::discard));
  const std::size_t b = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(3)));
  EXPECT_TRUE(story.answer(b).is_delivered());
}

/// For as long as the leader refuses, brokers that lag name an older one.
void refuse_among_laggards(history& story, const std::vector<int>& lagging) {
  const partition_view before = *story.cluster().view(topic, 0);
  raise_epochs(story);
  for (const int each : lagging)
    story.cluster().inject(metadata_lie{.topic = topic,
                                        .broker = broker_id{each},
                                        .partition = 0,
                                        .leader = before.leader,
                                        .leader_epoch = before.leader_epoch});
  story.cluster().inject(refusal(0, broker_errc::not_leader_or_follower, 1000));
  const std::size_t a = produce(story, 0);
  story.run_for(seconds(6));
  story.cluster().clear_faults();
  ASSERT_TRUE(answered_within(story, seconds(3)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(MadeAgain, IsNotBelievedOfOneBrokerThatLags) {
  for (int lagging = 1; lagging <= 3; ++lagging) {
    history story(stage());
    forget_ids(story);
    warm_up(story);
    refuse_among_laggards(story, {lagging});
  }
}

TEST(MadeAgain, IsNotBelievedOfATopicWithAnId) {
  history story(stage());
  warm_up(story);
  refuse_among_laggards(story, {1, 2, 3});
}

}  // namespace
}  // namespace partita::testing
