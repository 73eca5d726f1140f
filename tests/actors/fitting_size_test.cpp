#include "actors/fitting_size.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

const instant start{1000h};

TEST(FittingSize, NothingIsLimitedBeforeARefusal) {
  fitting_size fitting;
  fitting.taken(900'000);

  EXPECT_EQ(fitting.limit(start), fitting_size::unlimited);
  EXPECT_EQ(fitting.smallest_refused(), fitting_size::unlimited);
  EXPECT_EQ(fitting.largest_taken(), 900'000U);
}

TEST(FittingSize, TheLimitFallsAndDoesNotRiseByWhatIsSaidLater) {
  fitting_size fitting;
  fitting.lower(4000, start);
  EXPECT_EQ(fitting.limit(start), 4000U);
  fitting.lower(4500, start);
  EXPECT_EQ(fitting.limit(start), 4000U);
  fitting.lower(3000, start);
  EXPECT_EQ(fitting.limit(start), 3000U);
}

TEST(FittingSize, TheLimitDoublesWithTimeAndNeverOverflows) {
  fitting_size fitting;
  fitting.lower(4000, start);
  EXPECT_EQ(fitting.limit(start + 5min - 1ms), 4000U);
  EXPECT_EQ(fitting.limit(start + 5min), 8000U);
  EXPECT_EQ(fitting.limit(start + 10min), 16000U);
  EXPECT_EQ(fitting.limit(start + 5min * 51), std::size_t{4000} << 51);
  EXPECT_EQ(fitting.limit(start + 5min * 53), fitting_size::unlimited);
  EXPECT_EQ(fitting.limit(start + 24h * 3650), fitting_size::unlimited);

  fitting.lower(8000, start + 10min);
  EXPECT_EQ(fitting.limit(start + 10min), 8000U) << "counted from the last refusal";
}

TEST(FittingSize, WhatContradictsNewerNewsIsForgotten) {
  fitting_size fitting;
  fitting.taken(5000);
  fitting.refused(4000);
  EXPECT_EQ(fitting.smallest_refused(), 4000U);
  EXPECT_EQ(fitting.largest_taken(), 0U) << "the topic's limit was lowered";
  fitting.taken(4500);
  EXPECT_EQ(fitting.smallest_refused(), fitting_size::unlimited) << "and raised";
}

}  // namespace
}  // namespace partita::actors
