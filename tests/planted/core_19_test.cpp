// CORE-19, the test of the tests: with a defect put back (wire/mutant.hpp) the loss must be seen,
// and with the guard on it must not come to that.
#include "tests/sim/stage.hpp"
#include "wire/mutant.hpp"

#include <partita/testing/checker.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

struct replayed_row {
  const char* script;
  const char* cancelled_when;
};
constexpr replayed_row rows[] = {{"A#1 +>7", "A#1 answered"},               // CORE-01
                                 {"A#1 +>cut, A#2 ->19", "A#2 answered"}};  // CORE-04

class core_19 : public ::testing::Test {
 protected:
  void SetUp() override { plant(mutant::reuse_tuple); }
  void TearDown() override {
    std::fill(std::begin(planted_mutants), std::end(planted_mutants), false);
  }
  static void plant(mutant which) { planted_mutants[static_cast<std::size_t>(which)] = true; }
};

/// A is stored and cancelled while in doubt; B is as large.
void cancel_then_b(stage& s, const replayed_row& row) {
  s.cold();
  s.broker(row.script);
  s.produce("A", {.cancellable = true});
  s.when(row.cancelled_when);
  s.cancel("A");
  s.produce("B");
  s.await("A B");
  s.rule();
  s.run(60s);
}

std::set<anomaly_kind> found_in(stage& s) {
  const std::vector<produced_record> all{s.record("A").noted, s.record("B").noted};
  std::set<anomaly_kind> kinds;
  for (const anomaly& each : check(all, read_logs(s.cluster(), all))) kinds.insert(each.kind);
  return kinds;
}

TEST_F(core_19, core_19_guard_switched_off_a) {
  plant(mutant::ledger_off);
  for (const replayed_row& row : rows)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(std::string(row.script) + " seed " + std::to_string(seed));
      stage s(seed, stage_place::simulated);
      cancel_then_b(s, row);
      EXPECT_EQ(s.letter("A"), "U");
      EXPECT_EQ(s.letter("B"), "D");  // at A's place
      EXPECT_EQ(s.log(), "A");
      const std::set<anomaly_kind> found = found_in(s);
      EXPECT_TRUE(found.contains(anomaly_kind::lost_write));
      EXPECT_FALSE(found.contains(anomaly_kind::offset_twice));
    }
}

TEST_F(core_19, core_19_guard_switched_off_b) {
  for (const replayed_row& row : rows)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(std::string(row.script) + " seed " + std::to_string(seed));
      stage s(seed, stage_place::simulated);
      cancel_then_b(s, row);
      EXPECT_EQ(s.sends("B"), 0U);
      EXPECT_EQ(s.log(), "A");
      EXPECT_EQ(s.whole_status().contradictions, 1U);
      EXPECT_EQ(s.status().state, partition_state::halted);
      EXPECT_TRUE(found_in(s).empty());
    }
}

}  // namespace
}  // namespace partita::testing
