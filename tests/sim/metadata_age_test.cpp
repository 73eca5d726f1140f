// What the client does while it waits for metadata.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(MetadataAge, AnAnswerThatDoesNotComeIsAwaitedWithoutSpinning) {
  history_options options;
  options.config = hurried_config();
  options.config.metadata_max_age = seconds(2);
  options.brokers = 1;
  history story(options);
  story.produce(0, "a");
  ASSERT_TRUE(story.run_until_answered());

  story.cluster().pause_broker(1);
  const auto before = story.world().time().events_run();
  for (int step = 0; step < 5000 && story.world().time().now() < seconds(30); ++step)
    if (!story.world().time().step()) break;
  EXPECT_LT(story.world().time().events_run() - before, 2000U);
  EXPECT_GE(story.world().time().now(), seconds(30));

  story.cluster().resume_broker(1);
  story.produce(1, "b");
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(story.counts(), (tally{2, 0, 0}));
}

}  // namespace
}  // namespace partita::testing
