// The comparison that the other tests rest on finds each kind of difference. Needs no broker.
#include "integration/acknowledged_history.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

constexpr timestamp noon{std::chrono::milliseconds{1'000}};

outcome delivered_at(int partition, int offset) { return delivered{partition, offset, noon}; }

outcome failed_as(fate fate) { return failed{fate, {}, {}, limit::none, "t", 0, 1, {}}; }

foreign_record written(int partition, int offset, const std::string& value) {
  return {partition, offset, 1'000, "key", value, ""};
}

/// Two delivered records of one partition, one unknown, one not written.
void keep_four(acknowledged_history& history) {
  history.keep({"key", "a", {}, 0, noon}, delivered_at(0, 0));
  history.keep({"key", "b", {}, 0, noon}, delivered_at(0, 1));
  history.keep({"key", "maybe", {}, 0, noon}, failed_as(fate::unknown));
  history.keep({"key", "never", {}, 0, noon}, failed_as(fate::not_written));
}

bool finds(const std::vector<foreign_record>& log, const std::string& words) {
  acknowledged_history history("t");
  keep_four(history);
  return history.differences(log).find(words) != std::string::npos;
}

TEST(AcknowledgedHistory, FindsNothingInATruthfulHistory) {
  acknowledged_history history("t");
  keep_four(history);
  EXPECT_EQ(history.differences({written(0, 0, "a"), written(0, 1, "b")}), "");
  EXPECT_EQ(history.differences({written(0, 0, "a"), written(0, 1, "b"), written(0, 2, "maybe")}),
            "");
  EXPECT_EQ(history.tallied(), (tally{.delivered = 2, .not_written = 1, .unknown = 1}));
}

TEST(AcknowledgedHistory, FindsEachKindOfDifference) {
  EXPECT_TRUE(finds({written(0, 0, "a")}, "lies in the log 0 times"));
  EXPECT_TRUE(finds({written(0, 0, "a"), written(0, 1, "b"), written(0, 2, "b")},
                    "lies in the log 2 times"));
  EXPECT_TRUE(
      finds({written(0, 0, "a"), written(0, 1, "b"), written(0, 2, "never")}, "is not written"));
  EXPECT_TRUE(finds(
      {written(0, 0, "a"), written(0, 1, "b"), written(0, 2, "maybe"), written(0, 3, "maybe")},
      "is unknown"));
  EXPECT_TRUE(finds({written(0, 0, "b"), written(0, 1, "a")}, "lies behind record"));
  EXPECT_TRUE(finds({written(0, 0, "a"), written(0, 2, "b")}, "the answer says 0/1"));
  EXPECT_TRUE(finds({written(1, 0, "a"), written(0, 1, "b")}, "was meant for partition 0"));
  EXPECT_TRUE(
      finds({written(0, 0, "a"), written(0, 1, "b"), written(0, 2, "c")}, "never produced"));
  EXPECT_TRUE(finds({{0, 0, 999, "key", "a", ""}, written(0, 1, "b")}, "given another timestamp"));
  EXPECT_TRUE(finds({{0, 0, 1'000, "key", "a", "h=1"}, written(0, 1, "b")}, "never produced"));
}

TEST(AcknowledgedHistory, FindsAnOffsetThatWasToldTwice) {
  acknowledged_history history("t");
  history.keep({"key", "a", {}, 0, noon}, delivered_at(0, 0));
  history.keep({"key", "b", {}, 0, noon}, delivered_at(0, 0));
  EXPECT_NE(
      history.differences({written(0, 0, "a"), written(0, 1, "b")}).find("another one was told"),
      std::string::npos);
}

}  // namespace
}  // namespace partita::testing
