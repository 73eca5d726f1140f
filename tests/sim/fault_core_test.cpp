// CORE, case one: a sequence that may be used up must never be given to other bytes.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

// The record is given up while in doubt, then the partition is recovered and B produced.
void give_up_then_b(stage& s) {
  s.produce("A");
  s.await("A");
  s.rule();
  static_cast<void>(s.recover(recovery::discard));
  s.produce("B");
  s.await("B");
}

void core_08(stage& s, const char* script, broker_errc last) {
  s.broker(script);
  give_up_then_b(s);
  s.right("A=U|D, B=D, log=A B");
  if (s.letter("A") == "U") {
    EXPECT_EQ(s.failure("A").cause, last);
  }
  EXPECT_GT(s.tuple("B"), s.tuple("A"));
}
SCENARIO_TIMED(fault_core, core_08_refused_for_good_after_ambiguous_a) {
  core_08(s, "A#1 +>7, A#n ->29", broker_errc::topic_authorization_failed);
}
SCENARIO_TIMED(fault_core, core_08_refused_for_good_after_ambiguous_b) {
  s.broker("A#1 +>7, A#n ->(-1)");
  give_up_then_b(s);
  s.right("A=U|D, B=D, log=A B");
  EXPECT_GT(s.tuple("B"), s.tuple("A"));
}

SCENARIO(fault_core, core_09_unexplained_error_first_a) {
  s.broker("A#1 +>(-1)");
  s.produce("A");
  s.await("A");
  s.produce("B");
  s.right("A=D, B=D, log=A B");
  EXPECT_EQ(s.sends("A"), 2U);
  EXPECT_TRUE(s.same_bytes("A"));
}

SCENARIO_TIMED(fault_core, core_13_deadline_after_ambiguous) {
  s.broker("A#1 +>7, A#n ->19");
  s.produce("A");
  s.await("A");
  s.right("A=U");
  EXPECT_GE(s.took("A"), 10s);
  EXPECT_LE(s.took("A"), 10100ms);
  EXPECT_EQ(s.failure("A").ended_by, limit::delivery_timeout);
  EXPECT_EQ(s.failure("A").cause, broker_errc::not_enough_replicas);
  s.rule();
  static_cast<void>(s.recover(recovery::discard));
  s.produce("B");
  s.right("B=D, log=A B");
  EXPECT_GT(s.tuple("B").epoch, s.tuple("A").epoch);
  EXPECT_EQ(s.tuple("B").sequence, 0);
}

SCENARIO(fault_core, core_14_retry_limit_after_ambiguous) {
  s.set().retries = 1;
  s.broker("A#1 +>7, A#2 ->6");
  give_up_then_b(s);
  EXPECT_EQ(s.sends("A"), 2U);
  s.right("A=U, B=D, log=A B");
}

SCENARIO_TIMED(fault_core, core_15_abort_buffered_in_flight) {
  s.set().max_in_flight = 1;
  s.broker("A#1 +>ok@1s");
  s.produce("A X");
  s.when("A#1 seen");
  s.pause(0, pause_mode::abort_buffered);
  s.resume();
  s.produce("B");
  s.right("X=N, A=D|U, B=D, log=A B");
  EXPECT_EQ(s.code("X"), client_errc::aborted);
  EXPECT_EQ(s.sends("X"), 0U);
}

SCENARIO_TIMED(fault_core, core_17_latecomer_lands_first) {
  s.set().delivery_timeout = 2s;
  s.set().request_timeout = 1s;
  s.broker("A#1 +>cut late=3s, A#n ->19");
  s.produce("A");
  s.right("A=U");
  s.run(2s);
  static_cast<void>(s.recover(recovery::discard));
  s.rule();
  s.produce("B");
  s.right("B=D, log=A B");
}

}  // namespace
}  // namespace partita::testing
