// A cancellation and the end of the producer, one right behind the other.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace partita::testing {
namespace {

// It was taken out of its topic's route, and its answer was a task for a lane that ended first.
TEST(CancelledAtTheEnd, ARecordWhoseTopicIsUnknownIsAnsweredByTheDestructor) {
  history story({});
  std::optional<outcome> told;
  record one;
  one.topic = history::topic();
  one.value = "v";
  produce_options options;
  options.handle = record_handle::make();
  story.producer().produce(one, options, [&](const outcome& answer) { told.emplace(answer); });
  EXPECT_TRUE(story.producer().cancel(options.handle));

  story.end_producer();

  ASSERT_TRUE(told.has_value());
  ASSERT_NE(told->failure(), nullptr);
  EXPECT_EQ(told->failure()->fate, fate::not_written);
  EXPECT_EQ(told->failure()->code, client_errc::cancelled);
}

}  // namespace
}  // namespace partita::testing
