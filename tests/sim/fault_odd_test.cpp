// ODD: brokers that answer oddly.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

void one_leader(stage& s) {
  s.set_cluster().topics["t"].replicas = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
}

void odd_01(stage& s, const char* script) {
  one_leader(s);
  s.broker(script);
  s.produce("A@p0 B@p1");
  s.right("A=D, B=D, log=A, log(p1)=B");
  // The odd entry is that of the first partition in the request, whichever goes first.
  EXPECT_GE(s.sends("A") + s.sends("B"), 3U) << "an odd answer is no answer";
  EXPECT_TRUE(s.same_bytes("A"));
  EXPECT_TRUE(s.same_bytes("B"));
}
SCENARIO(fault_odd, odd_01_odd_answer_entries_a) { odd_01(s, "A#1 +>ok shape=left_out"); }
SCENARIO(fault_odd, odd_01_odd_answer_entries_b) { odd_01(s, "A#1 +>ok shape=twice"); }
SCENARIO(fault_odd, odd_01_odd_answer_entries_c) { odd_01(s, "A#1 +>ok shape=other_partition"); }
SCENARIO(fault_odd, odd_01_odd_answer_entries_d) { odd_01(s, "A#1 +>ok shape=other_topic"); }

SCENARIO(fault_odd, odd_02_wrong_correlation) {
  s.broker("A#1 +>badid");
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
  EXPECT_EQ(s.sends("A"), 2U);
  EXPECT_TRUE(s.same_bytes("A"));
  EXPECT_TRUE(s.same_bytes("B"));
}

SCENARIO(fault_odd, odd_03_hostile_bytes_torn) {
  s.broker("A#1 +>torn, A#2 +>torn");
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
}
SCENARIO(fault_odd, odd_03_hostile_bytes_garbage) {
  s.broker("A#1 +>garbage, A#2 ->garbage");
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
}

void odd_04(stage& s, const std::string& base) {
  s.expect_contradiction();
  for (int i = 0; i < 20; ++i) s.produce("w" + std::to_string(100 + i));
  s.await_all();
  s.broker("A#1 +>ok base=" + base);
  s.produce("A");
  s.right("A=U");
  EXPECT_EQ(s.whole_status().contradictions, 1U);
  EXPECT_EQ(s.status().state, partition_state::halted);
}
SCENARIO(fault_odd, odd_04_impossible_offsets_a) { odd_04(s, "0"); }
SCENARIO(fault_odd, odd_04_impossible_offsets_b) { odd_04(s, "19"); }

SCENARIO(fault_odd, odd_05_weaker_dedup_a) {
  s.set_cluster().topics["t"].settings["partita.dedup.window"] = "0";
  s.broker("A#1 +>cut");
  s.produce("A");
  s.right("A=U|D, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
  EXPECT_LE(s.sends("A"), 3U);
}
SCENARIO(fault_odd, odd_05_weaker_dedup_b) {
  s.set_cluster().topics["t"].settings["partita.dedup.window"] = "1";
  s.broker("A#1 +>cut");
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
}

SCENARIO(fault_odd, odd_07_timeout_not_stored_a) {
  s.broker("A#1 ->7");
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
}

}  // namespace
}  // namespace partita::testing
