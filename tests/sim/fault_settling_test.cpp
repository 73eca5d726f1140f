// Rows of SEQ, DUP, TIME, LOSS and ODD whose doubt only the log can end.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

constexpr auto two_days = std::chrono::hours(48);

produce_how stamped_two_days_ago(stage& s) { return {.stamp = s.world().time().wall() - two_days}; }

operation<settlement> begin_settle(stage& s, const std::string& name) {
  return s.producer().settle(s.failure(name).ticket);
}

settlement finish_settle(stage& s, operation<settlement> pending) {
  EXPECT_TRUE(s.until([&] { return pending.done(); })) << s.story();
  return std::move(pending).get();
}

/// One replica, so that a restart brings the same leader back with what it kept.
void one_replica(stage& s) {
  s.set_cluster().topics["t"].replicas = {{1}, {2}, {3}};
  s.set_cluster().topics["t"].settings["min.insync.replicas"] = "1";
}

void restart(stage& s, broker_id broker) {
  s.cluster().stop_broker(broker, stop_kind::clean);
  s.cluster().start_broker(broker);
}

void expect_delivered(stage& s, const std::string& name, const settlement& verdict) {
  ASSERT_TRUE(verdict.is_delivered()) << s.story();
  EXPECT_EQ(verdict.delivery()->partition, partition_id(0));
  for (const log_record& each : s.cluster().log("t", 0)) {
    if (each.offset == *verdict.delivery()->offset) {
      EXPECT_EQ(each.value->substr(0, each.value->find('@')), name) << s.story();
    }
  }
}

// SEQ-20

SCENARIO_TIMED(fault_seq, seq_20_restart_two_in_doubt) {
  one_replica(s);
  s.start();
  s.broker("A#1 +>mute, B#1 +>mute");
  s.produce("A B");
  s.when("B#1 stored");
  restart(s, 1);
  s.right("A=D, B=D, log=A B");
  EXPECT_EQ(s.status().epoch_bumps, 0U) << "nothing is renumbered";
  EXPECT_TRUE(s.same_bytes("A") && s.same_bytes("B"));
}

SCENARIO_TIMED(fault_seq, seq_20_restart_two_in_doubt_a) {
  one_replica(s);
  s.set_cluster().topics["t"].replicas = {{1}, {1}, {1}};
  s.start();
  s.broker("A#1 +>mute, B#1 +>mute, X#1 +>mute, Y#1 +>mute, P#1 +>mute, Q#1 +>mute");
  s.produce("A B X@p1 Y@p1 P@p2 Q@p2");
  s.when("Q#1 stored");
  restart(s, 1);
  s.right("A=D, B=D, X=D, Y=D, P=D, Q=D, log=A B, log(p1)=X Y, log(p2)=P Q");
}

SCENARIO_TIMED(fault_seq, seq_20_restart_two_in_doubt_b) {
  s.start();
  s.broker("A#1 +>mute, B#1 +>mute");
  s.produce("A B");
  s.when("B#1 stored");
  s.move(0, 2);
  s.forget(0);
  s.cut(1);
  s.right("A=D, B=D, log=A B");
}

SCENARIO_TIMED(fault_seq, seq_20_restart_two_in_doubt_c) {
  one_replica(s);
  s.start();
  s.cluster().deny(right::read, "t");
  s.broker("A#1 +>mute, B#1 +>mute");
  s.produce("A B");
  s.when("B#1 stored");
  restart(s, 1);
  s.right("A=U, B=D|U, log=A B");
  EXPECT_EQ(s.failure("A").cause, client_errc::log_not_readable);
}

// SEQ-21

SCENARIO_TIMED(fault_seq, seq_21_state_gone_before_the_retry) {
  s.start();
  s.broker("A#1 +>cut");
  s.produce("A", stamped_two_days_ago(s));
  s.when("A#1 stored");
  s.forget(0);
  s.right("A=D, log=A");
}

SCENARIO_TIMED(fault_seq, seq_21_state_gone_before_the_retry_a) {
  s.start();
  s.broker("A#1 +>mute");
  s.produce("A", stamped_two_days_ago(s));
  s.when("A#1 stored");
  s.forget(0);
  s.right("A=D, log=A");
}

SCENARIO_TIMED(fault_seq, seq_21_state_gone_before_the_retry_b) {
  s.start();
  s.broker("A#1 +>cut");
  s.produce("A B C", stamped_two_days_ago(s));
  s.when("A#1 stored");
  s.forget(0);
  s.right("A=D, B=D, C=D, log=A B C");
}

SCENARIO_TIMED(fault_seq, seq_21_state_gone_before_the_retry_c) {
  s.start();
  s.cluster().deny(right::read, "t");
  s.broker("A#1 +>cut");
  s.produce("A", stamped_two_days_ago(s));
  s.when("A#1 stored");
  s.forget(0);
  s.right("A=U, log=A");
  EXPECT_EQ(s.failure("A").cause, client_errc::log_not_readable);
}

SCENARIO_SEEDS(fault_seq, seq_21_state_gone_before_the_retry_d, 5) {
  s.set().delivery_timeout = 5h;
  s.set().state_horizon = 10min;
  s.start();
  s.broker("A#1 +>cut");
  s.produce("A");
  s.when("A#1 stored");
  for (const int each : {1, 2, 3}) s.cluster().stop_broker(each, stop_kind::clean);
  s.run(20min);
  for (const int each : {1, 2, 3}) s.cluster().start_broker(each);
  s.forget(0);
  s.right("A=D, log=A");
}

// TIME-20

SCENARIO_TIMED(fault_time, time_20_deadline_from_admission) {
  s.start();
  s.silent(1);
  s.produce("A", stamped_two_days_ago(s));
  s.produce("B", {.stamp = s.world().time().wall() + two_days});
  s.await("A B");
  for (const char* each : {"A", "B"}) {
    EXPECT_GE(s.took(each), 10s) << each;
    EXPECT_LE(s.took(each), 10100ms) << each;
  }
  s.right("A=U, B=U|N");
}

// DUP-04

SCENARIO(fault_dup, dup_04_out_of_order_on_doubtful_head_is_looked_for) {
  s.broker("A#1 +>cut, A#2 ->45");
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
}

// TIME-24

void time_24(stage& s, const char* first, bool readable) {
  s.set().delivery_timeout = 2s;
  s.start();
  if (!readable) s.cluster().deny(right::read, "t");
  s.broker(std::string(first) + ", A#n ->19");
  s.produce("A");
  s.await("A");
  ASSERT_EQ(s.letter("A"), "U");
  auto pending = begin_settle(s, "A");
  s.recover(recovery::discard);
  EXPECT_FALSE(pending.done());
  s.rule();
  s.produce("B");
  s.right("B=D");
  const settlement verdict = finish_settle(s, std::move(pending));
  if (!readable) {
    ASSERT_NE(verdict.undecided(), nullptr) << s.story();
    EXPECT_EQ(verdict.undecided()->reason, client_errc::log_not_readable);
  } else if (std::string(first).find("+>") != std::string::npos) {
    expect_delivered(s, "A", verdict);
  } else {
    EXPECT_TRUE(verdict.is_never_written()) << s.story();
  }
}

SCENARIO_TIMED(fault_time, time_24_settle_unknown_a) {
  time_24(s, "A#1 +>mute", true);
  s.right("log=A B");
}

SCENARIO_TIMED(fault_time, time_24_settle_unknown_b) {
  time_24(s, "A#1 ->mute", true);
  s.right("log=B");
}

SCENARIO_TIMED(fault_time, time_24_settle_unknown_c) { time_24(s, "A#1 +>mute", false); }

// Halted, and nobody asks

SCENARIO_TIMED(fault_time, time_24_settle_unknown_a_without_being_asked) {
  s.set().delivery_timeout = 2s;
  s.start();
  s.broker("A#1 +>mute, A#n ->19");
  s.produce("A");
  s.await("A");
  s.run(5s);
  EXPECT_EQ(s.status().state, partition_state::halted);
  const std::size_t sends = s.sends("A");
  auto pending = begin_settle(s, "A");
  s.run(1ms);
  EXPECT_TRUE(pending.done()) << "known before it was asked for";
  expect_delivered(s, "A", finish_settle(s, std::move(pending)));
  EXPECT_EQ(s.sends("A"), sends) << "nothing of a halted partition is sent";
}

// ODD-05, LIE-13

SCENARIO_TIMED(fault_odd, odd_05_weaker_dedup_a) {
  s.start();
  s.broker("A#1 +>cut, A#n ->45");
  s.produce("A");
  s.right("A=D|U, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
  EXPECT_LT(s.sends("A"), 20U);
}

SCENARIO_TIMED(fault_odd, odd_05_weaker_dedup_b) {
  one_replica(s);
  s.start();
  s.broker("A#1 +>mute");
  s.produce("A");
  s.when("A#1 stored");
  restart(s, 1);  // it keeps one batch
  s.right("A=D, log=A");
  EXPECT_TRUE(s.same_bytes("A"));
}

SCENARIO_TIMED(fault_lie, lie_13_success_behind_a_failure) {
  s.set().on_failure = failure_policy::skip;
  s.start();
  s.broker("A#1 +>29, B#1 +>ok");
  s.produce("A B");
  s.right("A=U|D, B=D, log=A B");
}

}  // namespace
}  // namespace partita::testing
