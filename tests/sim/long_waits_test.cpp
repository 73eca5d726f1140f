// Waits that an application names without an end, or below nothing.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace partita::testing {
namespace {

constexpr auto for_ever = std::chrono::milliseconds::max();

SCENARIO(long_waits, close_lasts_until_everything_is_answered) {
  s.broker("A#1 +>ok@50ms");
  s.produce("A");
  const close_report report = s.close(for_ever);
  EXPECT_TRUE(report.unsent.empty());
  s.right("A=D, log=A");
}

SCENARIO(long_waits, admission_lasts_until_the_topic_is_known) {
  s.set_cluster().topics["later"].partitions = 1;
  produce_how how;
  how.topic = "later";
  how.options.admission_timeout = for_ever;
  s.produce("A", how);
  s.right("A=D");
}

SCENARIO(long_waits, admission_below_nothing_waits_for_nothing) {
  s.set_cluster().topics["later"].partitions = 1;
  produce_how how;
  how.topic = "later";
  how.options.admission_timeout = std::chrono::milliseconds::min();
  s.produce("A", how);
  s.right("A=N");
}

}  // namespace
}  // namespace partita::testing
