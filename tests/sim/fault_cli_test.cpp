// CLI: what a program does with answers. The program itself is tested by shell scripts.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

SCENARIO_SEEDS(fault_cli, cli_02_unsent_handed_back, 10) {
  s.start();
  s.refuse_all();
  for (int i = 0; i < 1000; ++i) s.produce("r" + std::to_string(i));
  const close_report report = s.close(1s);
  EXPECT_EQ(report.answered.not_written, 1000U);
  ASSERT_EQ(report.unsent.size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i)
    EXPECT_TRUE(report.unsent[i].value->starts_with("r" + std::to_string(i) + "@")) << i;
}

}  // namespace
}  // namespace partita::testing
