// A partition follows its leader to another lane.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

// It moved at once, in the middle of its turn, and when its queue was empty there was no turn on
// the new lane: what waited there waited for the next record, or for its deadline.
TEST(LeaderOnAnotherLane, WhatWaitsForALeaderIsSentThereAtOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    history_options options;
    options.seed = seed;
    options.lanes = 2;
    options.brokers = 2;
    options.partitions = 1;
    options.config = hurried_config();
    options.config.delivery_timeout = std::chrono::minutes(2);
    history story(options);
    story.produce(0, "a");
    ASSERT_TRUE(story.run_until_answered());

    const auto leader = story.cluster().view(history::topic(), 0)->leader;
    const broker_id other = leader.value == 1 ? 2 : 1;
    story.cluster().stop_broker(other);
    story.cluster().stop_broker(leader);
    story.produce(0, "b");
    story.run_for(std::chrono::seconds(1));
    story.cluster().start_broker(leader);
    story.cluster().start_broker(other);
    ASSERT_TRUE(story.cluster().move_leader(history::topic(), 0, other));
    ASSERT_TRUE(story.run_until_answered(std::chrono::seconds(20)));
    EXPECT_TRUE(story.answer(1).is_delivered());
  }
}

}  // namespace
}  // namespace partita::testing
