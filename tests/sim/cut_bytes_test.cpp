// Connections that end in the middle: CONN-12, CONN-14.
#include "tests/sim/metadata_stage.hpp"

#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace partita::testing {
namespace {

using namespace metadata_stage;  // NOLINT: the words of this file

/// One record over connections of which one ends after so many bytes; then it must be in the log
/// once, whatever was cut. False when nothing was cut any more: the exchange is shorter.
bool survives(const link_fault& cut, bool warm) {
  history_options options = stage(1);
  options.brokers = 1;
  history story(options);
  if (warm) warm_up(story, 1);
  const std::uint64_t connections = story.cluster().counters().connections;
  story.world().set_link_fault(1, cut);
  const std::size_t a = produce(story, 0);
  EXPECT_TRUE(answered_within(story, seconds(11)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
  return story.cluster().counters().connections > connections + (warm ? 0 : 2);
}

TEST(fault_conn, conn_14_cut_at_every_byte) {
  constexpr std::size_t steps_max = 4000;
  for (const bool warm : {false, true}) {
    std::size_t cuts = 0;
    for (std::size_t byte = 0; byte < steps_max && survives({.cut_after = byte}, warm); ++byte)
      ++cuts;
    EXPECT_GT(cuts, 50U) << "the requests";
    EXPECT_LT(cuts, steps_max);
    if (::testing::Test::HasFailure()) break;
    cuts = 0;
    for (std::size_t byte = 0; byte < steps_max && survives({.cut_answers_after = byte}, warm);
         ++byte)
      ++cuts;
    EXPECT_GT(cuts, 20U) << "the answers";
    EXPECT_LT(cuts, steps_max);
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(fault_conn, conn_12_idle_close_race) {
  history_options options = stage();
  options.config.delivery_timeout = seconds(60);
  history story(options);
  warm_up(story);
  for (int offset = 0; offset < 400; ++offset) {
    story.run_for(seconds(5));
    // The broker's FIN and the frame pass each other at every distance.
    if (offset % 2 == 0) {
      story.cluster().drop_connections(story.cluster().view(topic, 0)->leader);
      story.run_for(std::chrono::microseconds(10 * offset));
      produce(story, 0);
    } else {
      produce(story, 0);
      story.run_for(std::chrono::microseconds(10 * offset));
      story.cluster().drop_connections(story.cluster().view(topic, 0)->leader);
    }
    ASSERT_TRUE(answered_within(story, seconds(5))) << offset;
  }
  EXPECT_EQ(story.counts().delivered, story.produced());
  EXPECT_EQ(story.verdict(), "");
}

}  // namespace
}  // namespace partita::testing
