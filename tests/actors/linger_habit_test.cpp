#include "actors/linger_habit.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

TEST(LingerHabit, ALoneRecordLingersUntilOneDidInVain) {
  linger_habit habit;
  EXPECT_FALSE(habit.goes_at_once(true));
  habit.lingered(true);
  EXPECT_TRUE(habit.goes_at_once(true));
  EXPECT_TRUE(habit.goes_at_once(true));
}

TEST(LingerHabit, CompanyBringsTheHabitBack) {
  linger_habit habit;
  habit.lingered(true);
  EXPECT_FALSE(habit.goes_at_once(false));
  EXPECT_FALSE(habit.goes_at_once(true));
  habit.lingered(true);
  habit.lingered(false);
  EXPECT_FALSE(habit.goes_at_once(true));
}

}  // namespace
}  // namespace partita::actors
