// DUP: a record that is in the log more often than the application handed it over.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

SCENARIO(fault_dup, dup_01_trouble_on_another_partition) {
  s.broker("X#1 +>cut, Y#1 ->45");
  s.start();
  const auto before = s.status(1);
  s.produce("X@p1 Y@p0");
  s.right("X=D, Y=D, log(p1)=X, log=Y");
  EXPECT_TRUE(s.same_bytes("X"));
  EXPECT_EQ(s.status(1).producer_epoch, before.producer_epoch);
}

SCENARIO_TIMED(fault_dup, dup_03_regrouped_retry_a) {
  s.set().batch_records_max = 100;
  s.broker("A#1 +>mute");
  s.produce("A");
  s.when("A#1 seen");
  s.produce("B C");
  s.right("A=D, B=D, C=D, log=A B C");
  EXPECT_GE(s.sends("A"), 2U);
  EXPECT_TRUE(s.same_bytes("A"));
  EXPECT_EQ(s.attempts("A").front().names.size(), 1U);
}

SCENARIO_SEEDS(fault_dup, dup_03_regrouped_retry_b, 5) {
  s.set().on_failure = failure_policy::skip;
  s.set().delivery_timeout = 60s;
  s.batches_of(1000);
  std::string names;
  for (int i = 0; i < 1000; ++i) names += "r" + std::to_string(i) + " ";
  for (int i = 1; i <= 10; ++i) s.broker("r0#" + std::to_string(i) + " ->19");
  s.produce(names);
  s.await_all();
  EXPECT_EQ(s.sends("r0"), 11U);
  EXPECT_TRUE(s.same_bytes("r0"));
  EXPECT_EQ(s.attempts("r0").front().names.size(), 1000U);
  s.right("r0=D, r999=D");
}

SCENARIO(fault_dup, dup_04_out_of_order_on_doubtful_head) {
  s.broker("A#1 +>cut, A#2 ->45");
  s.produce("A");
  s.right("A=U|D, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
}

SCENARIO(fault_dup, dup_05_dedup_across_leaders) {
  s.broker("A#1 +>cut");
  s.produce("A");
  s.when("A#1 stored");
  s.move(0, 2);
  s.right("A=D, log=A");
}

SCENARIO_TIMED(fault_dup, dup_06_keyless_retry_stays) {
  produce_how how;
  how.key.reset();
  how.assigned = false;
  s.broker("A#1 +>mute");
  s.produce("A", how);
  s.when("A#1 seen");
  const std::int32_t partition = s.attempts("A").front().partition;
  const std::int32_t leader = s.attempts("A").front().broker;
  s.silent(leader);
  s.after(5s, [&] { s.ok(leader); });
  s.right("A=D");
  for (const attempt_note& each : s.attempts("A")) EXPECT_EQ(each.partition, partition);
  std::string everywhere;
  for (int p = 0; p < 3; ++p) everywhere += s.log(p);
  EXPECT_EQ(everywhere, "A");
}

SCENARIO(fault_dup, dup_08_five_lost_answers) {
  s.broker("A#1 +>mute, B#1 +>mute, C#1 +>mute, D#1 +>mute, E#1 +>mute, A#2 ->19, A#3 ->19");
  s.produce("A B C D E");
  s.when("E#1 stored");
  s.cut(1);
  s.right("A=D, B=D, C=D, D=D, E=D, log=A B C D E");
  for (const char* each : {"A", "B", "C", "D", "E"}) EXPECT_TRUE(s.same_bytes(each)) << each;
}

SCENARIO(fault_dup, dup_09_mixed_answer) {
  s.set_cluster().topics["t"].replicas = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  s.broker("A#1 +>ok, B#1 ->19, C#1 ->29");
  s.produce("A@p0 B@p1 C@p2");
  s.right("A=D, B=D, C=N, log(p0)=A, log(p1)=B, log(p2)=");
  EXPECT_EQ(s.sends("A"), 1U);
  EXPECT_EQ(s.sends("B"), 2U);
  EXPECT_EQ(s.sends("C"), 1U);
}

}  // namespace
}  // namespace partita::testing
