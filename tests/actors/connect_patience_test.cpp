#include "actors/connect_patience.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

constexpr connect_patience standard{10s, 30s};

TEST(ConnectPatience, DoublesWithEachFailureUpToTheLongest) {
  EXPECT_EQ(standard.limit(0, false), 10s);
  EXPECT_EQ(standard.limit(1, false), 20s);
  EXPECT_EQ(standard.limit(2, false), 30s);
  EXPECT_EQ(standard.limit(1'000'000, false), 30s);
}

TEST(ConnectPatience, IsAFifthWhileOthersAreLeftAndGrowsTheSameWay) {
  EXPECT_EQ(standard.limit(0, true), 2s);
  EXPECT_EQ(standard.limit(1, true), 4s);
  EXPECT_EQ(standard.limit(3, true), 16s);
  EXPECT_EQ(standard.limit(4, true), 30s);
  EXPECT_EQ(standard.limit(1'000'000, true), 30s);
}

TEST(ConnectPatience, IsNeverCutBelowASecondNorLongerThanWasSet) {
  const connect_patience quick{3s, 3s};
  EXPECT_EQ(quick.limit(0, true), 1s);
  const connect_patience quicker{200ms, 400ms};
  EXPECT_EQ(quicker.limit(0, true), 200ms);
  EXPECT_EQ(quicker.word_after(), 200ms);
  const connect_patience odd{5s, 1s};
  EXPECT_EQ(odd.limit(3, false), 5s);
}

}  // namespace
}  // namespace partita::actors
