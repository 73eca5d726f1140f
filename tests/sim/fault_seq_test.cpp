// SEQ: sequences, epochs and producer ids.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace partita::testing {
namespace {

SCENARIO(fault_seq, seq_04_idle_partition_after_bump) {
  s.set_cluster().topics["t"].partitions = 3;
  s.start();
  for (int i = 0; i < 6; ++i) s.produce("q" + std::to_string(i) + "@p1");
  s.await_all();
  const partition_status idle = s.status(1);
  s.broker("Y#1 ->45");
  s.produce("Y@p0");
  s.right("Y=D");
  s.produce("A@p1");
  s.right("A=D");
  EXPECT_EQ(s.sends("A"), 1U);
  const batch_tuple used = s.tuple("A");
  if (used.epoch == idle.producer_epoch.value) {
    EXPECT_EQ(used.sequence, 7);
  } else
    EXPECT_EQ(used.sequence, 0);
}

SCENARIO(fault_seq, seq_05_answers_matched_by_identity) {
  s.start();
  s.forget(0);
  s.broker("A#1 ->45, B#1 ->45@50ms, C#1 ->45@50ms, D#1 ->45@50ms, E#1 ->45@50ms, F#1 ->45@50ms");
  s.produce("A B C D E F");
  s.right("A=D, B=D, C=D, D=D, E=D, F=D, log=A B C D E F");
}

SCENARIO(fault_seq, seq_06_clean_head_out_of_order) {
  s.start();
  const partition_status before = s.status(0);
  const partition_status other = s.status(1);
  s.forget(0);
  s.broker("A#1 ->45");
  s.produce("A@p0 X@p1");
  s.right("A=D, X=D, log=A");
  EXPECT_EQ(s.tuple("A").epoch, before.producer_epoch.value + 1);
  EXPECT_EQ(s.tuple("A").sequence, 0);
  EXPECT_EQ(s.sends("A"), 2U);
  EXPECT_EQ(s.tuple("X").epoch, other.producer_epoch.value);
}

SCENARIO_TIMED(fault_seq, seq_07_idle_expiry) {
  s.produce("A");
  s.right("A=D");
  s.run(11min);
  s.forget(0);
  s.broker("B#1 ->45");
  s.produce("B");
  s.right("B=D, log=A B");
  EXPECT_EQ(s.status().state, partition_state::normal);
  EXPECT_FALSE(s.recover(recovery::discard).was_halted);
}

// The row wants C and D sent again under a newer epoch. They were handed over behind B, and when
// its connection is closed nobody knows which of the three frames a broker still has: were B's
// executed late, theirs would follow. So they may be written (L3) and may not go to another epoch
// (L1). They end with B, never doubled, and what comes after them passes.
SCENARIO_TIMED(fault_seq, seq_08_gap_after_expiry) {
  s.set().on_failure = failure_policy::skip;
  s.produce("A");
  s.right("A=D");
  s.broker("B#1 ->mute");
  produce_how brief;
  brief.options.delivery_timeout = 2s;
  s.produce("B", brief);
  s.produce("C");
  s.produce("D");
  s.right("B=U, C=U, D=U, log=A");
  EXPECT_LE(s.took("B"), 2s + 10ms);
  s.produce("E");
  s.right("E=D, log=A E");
  EXPECT_EQ(s.tuple("E").epoch, s.tuple("A").epoch + 1);
  EXPECT_EQ(s.tuple("E").sequence, 0);
  for (const char* each : {"B", "C", "D"}) EXPECT_EQ(s.sends(each), 1U) << each;
}

SCENARIO_TIMED(fault_seq, seq_09_sequence_counts_records_one_in_flight) {
  s.set().max_in_flight = 1;
  s.set().batch_records_max = 3;
  s.set().linger = 5ms;
  for (const char* batch : {"a", "b c", "d", "e f g"}) {
    s.produce(batch);
    s.run(20ms);
  }
  s.await_all();
  s.right("log=a b c d e f g");
  std::int32_t next = 1;  // the warm record has 0
  for (const attempt_note& each : s.all_attempts()) {
    EXPECT_EQ(each.tuple.sequence, next);
    next += static_cast<std::int32_t>(each.names.size());
  }
}
SCENARIO_TIMED(fault_seq, seq_09_sequence_counts_records_five_in_flight) {
  s.set().batch_records_max = 3;
  s.set().linger = 1ms;
  s.broker("a#1 +>ok@100ms");
  for (const char* batch : {"a", "b c", "d", "e f g"}) {
    s.produce(batch);
    s.run(3ms);
  }
  s.await_all();
  s.right("log=a b c d e f g");
  std::int32_t next = 1;
  for (const attempt_note& each : s.all_attempts()) {
    EXPECT_EQ(each.tuple.sequence, next);
    next += static_cast<std::int32_t>(each.names.size());
  }
}

SCENARIO_SEEDS(fault_seq, seq_10_contiguous_under_retry, 300) {
  s.broker("A#1 ->6@50ms");
  s.produce("A");
  s.run(20ms + std::chrono::microseconds(s.draws().below(60'000)));
  s.produce("B");
  s.run(std::chrono::microseconds(s.draws().below(20'000)));
  s.produce("C");
  s.right("A=D, B=D, C=D, log=A B C");
  EXPECT_EQ(s.tuple("B").sequence, s.tuple("A").sequence + 1);
  EXPECT_EQ(s.tuple("C").sequence, s.tuple("A").sequence + 2);
}

SCENARIO(fault_seq, seq_11_unknown_producer_id) {
  s.set_cluster().version = emulation::kafka_2_4;
  s.start();
  const partition_status before = s.status(0);
  s.forget(0);
  s.broker("A#1 ->59");
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_GT(s.tuple("A").epoch, before.producer_epoch.value);
  EXPECT_EQ(s.tuple("A").sequence, 0);
}

SCENARIO_SEEDS(fault_seq, seq_12_old_timestamps_expire_state, 3) {
  s.set_cluster().version = emulation::kafka_2_4;
  s.start();
  int losses = 0;
  for (int second = 0; second < 7200; ++second) {
    if (second % 600 == 599) {
      s.await_all();
      s.forget(0);
      ++losses;
    }
    s.produce("r" + std::to_string(second), {.stamp = s.world().time().wall() - 48h});
    s.run(1s);
  }
  s.await_all();
  s.right("r0=D, r7199=D");
  // Besides, the broker's own check finds the old timestamps expired every ten minutes.
  EXPECT_LE(s.status().epoch_bumps, static_cast<std::uint32_t>(2 * losses + 1));
  EXPECT_EQ(s.status().answered.not_written + s.status().answered.unknown, 0U);
}

SCENARIO(fault_seq, seq_13_duplicate_code_is_success) {
  s.broker("A#1 +>cut, A#2 ->46");
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_FALSE(s.delivery("A").offset.has_value());
}

SCENARIO(fault_seq, seq_14_prefix_deleted) {
  s.produce("A");
  s.right("A=D");
  s.log_may_differ();  // the prefix with A is gone by the cluster's wish
  EXPECT_EQ(s.cluster().delete_records("t", 0, s.delivery("A").offset->value + 1),
            broker_errc::none);
  s.forget(0);
  s.broker("B#1 ->45");
  s.produce("B");
  s.right("B=D, log=B");
}

SCENARIO(fault_seq, seq_16_new_epoch_starts_alone) {
  s.start();
  s.broker("A#1 ->45@50ms, A#2 +>ok@50ms");
  s.produce("A B C");
  s.right("A=D, B=D, C=D, log=A B C");
  EXPECT_EQ(s.status().epoch_bumps, 1U);
  // After the bump nothing of B and C is seen before A's success.
  const auto a = s.attempts("A");
  for (const char* each : {"B", "C"})
    for (const attempt_note& seen : s.attempts(each))
      if (seen.tuple.epoch == a.back().tuple.epoch) {
        EXPECT_GE(seen.at, a.back().at + 20ms);
      }
}

SCENARIO_TIMED(fault_seq, seq_18_window_counts_batches) {
  s.set().batch_records_max = 50;
  s.set().linger = 0ms;
  s.set_links().latency_min = 50ms;
  s.set_links().latency_max = 50ms;
  s.start();
  std::string names;
  for (int i = 0; i < 1000; ++i) names += "r" + std::to_string(i) + " ";
  s.produce(names);
  s.await_all();
  // 20 full batches at five in flight: five round trips of 100 ms, and one to begin with.
  EXPECT_LE(s.took("r999"), 700ms);
}

SCENARIO_TIMED(fault_seq, seq_22_state_gone_while_idle_a) {
  s.produce("W");
  s.right("W=D");
  s.run(2min);
  s.forget(0);
  s.broker("A#1 ->19@50ms");
  s.produce("A B");
  s.right("A=D, B=D, log=W A B");
}
SCENARIO(fault_seq, seq_22_state_gone_while_idle_b) {
  s.produce("W");
  s.right("W=D");
  s.cut(1);
  if (s.simulated()) s.run(10ms);
  s.forget(0);
  s.broker("A#1 ->19@50ms");
  s.produce("A B");
  s.right("A=D, B=D, log=W A B");
}
SCENARIO_TIMED(fault_seq, seq_22_state_gone_while_idle_c) {
  s.start();
  const auto old = s.world().time().wall() - 48h;
  for (int i = 0; i < 10; ++i) s.produce("r" + std::to_string(i), {.stamp = old});
  s.await_all();
  s.forget(0);
  s.broker("A#1 ->19@50ms");
  s.produce("A", {.stamp = old});
  s.produce("B", {.stamp = old});
  s.right("A=D, B=D, log=r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 A B");
}

SCENARIO(fault_seq, seq_02_epoch_used_up) {
  s.cold();
  s.cluster().answer_next_id(5000, 32766);
  s.produce("P");
  s.right("P=D");
  s.produce("X@p1");
  s.right("X=D");
  const batch_tuple busy = s.tuple("X");
  s.broker("A#1 ->45, B#1 ->45, C#1 ->45, D#1 ->45");
  for (const char* each : {"A", "B", "C", "D"}) {
    s.produce(each);
    s.right(std::string(each) + "=D");
    s.produce(std::string("x") + each + "@p1");
  }
  s.await_all();
  s.right("log=P A B C D, log(p1)=X xA xB xC xD");
  EXPECT_EQ(s.tuple("P").epoch, 32766);
  EXPECT_NE(s.tuple("D").id, 5000);
  EXPECT_LT(s.tuple("D").epoch, 10);
  EXPECT_EQ(s.tuple("xD").id, busy.id);
  EXPECT_EQ(s.tuple("xD").epoch, busy.epoch);
}

// Bumps at any moment: every batch on the wire carries a triple of one numbering.
SCENARIO_SEEDS(fault_seq, seq_03_stamp_in_one_step, 1000) {
  s.set().on_failure = failure_policy::skip;
  for (int i = 0; i < 20; ++i)
    if (s.draws().chance(0.2)) s.broker("r" + std::to_string(i) + "#1 ->45");
  for (int i = 0; i < 20; ++i) {
    s.produce("r" + std::to_string(i));
    if (s.draws().chance(0.5)) s.run(std::chrono::microseconds(s.draws().below(800)));
  }
  s.await_all();
  std::map<std::pair<std::int64_t, std::int16_t>, std::int32_t> next;
  next[{s.all_attempts().front().tuple.id, s.all_attempts().front().tuple.epoch}] = 1;
  for (const attempt_note& each : s.all_attempts()) {
    std::int32_t& expected = next[{each.tuple.id, each.tuple.epoch}];
    EXPECT_LE(each.tuple.sequence, expected) << each.names.front();
    expected = std::max(expected, each.tuple.sequence + 1);
    EXPECT_NE(each.answered.value_or(broker_errc::none), broker_errc::invalid_producer_epoch);
  }
  s.right("r0=D, r19=D");
}

api_fault of_id(reply how, broker_errc code, int times) {
  api_fault fault;
  fault.api = api::init_producer_id;
  fault.reply = how;
  fault.code = code;
  fault.times = times;
  return fault;
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_a) {
  s.cold();
  s.cluster().inject(of_id(reply::never, broker_errc::none, always));
  s.produce("A");
  s.right("A=N");
  EXPECT_GE(s.took("A"), 10s);
  EXPECT_LE(s.took("A"), 10100ms);
}
void seq_15_b(stage& s, broker_errc code) {
  s.cold();
  s.cluster().inject(of_id(reply::error, code, always));
  s.after(3s, [&s] { s.cluster().clear_faults(); });
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_LE(s.took("A"), 4500ms);
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_b_loading) {
  seq_15_b(s, broker_errc::coordinator_load_in_progress);
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_b_not_available) {
  seq_15_b(s, broker_errc::coordinator_not_available);
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_b_not_coordinator) {
  seq_15_b(s, broker_errc::not_coordinator);
}
void seq_15_c(stage& s, broker_errc code) {
  s.cold();
  s.cluster().inject(of_id(reply::error, code, always));
  s.produce("A");
  s.right("A=N");
  EXPECT_LE(s.took("A"), 1s);
  EXPECT_TRUE(s.code("A") == code || s.failure("A").cause == code) << s.code("A").message();
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_c_cluster) {
  seq_15_c(s, broker_errc::cluster_authorization_failed);
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_c_transactional) {
  seq_15_c(s, broker_errc::transactional_id_authorization_failed);
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_d) {
  s.cold();
  s.cluster().inject(of_id(reply::reset, broker_errc::none, 2));
  s.produce("A");
  s.right("A=D, log=A");
}
SCENARIO_TIMED(fault_seq, seq_15_id_request_trouble_e) {
  s.cold();
  s.set_links().latency_min = 5ms;
  s.set_links().latency_max = 5ms;
  s.produce("A");
  s.right("A=D");
  // Bootstrap connect, versions and metadata (25 ms), then the leader's connection with the id
  // beside it, versions and the record: no more than two round trips behind its connect.
  EXPECT_LE(s.took("A"), 70ms);
}

void seq_17(stage& s, std::int16_t epoch_of_twin, broker_errc seen) {
  s.cold();
  s.cluster().answer_next_id(7000, 0);
  producer_view twin;
  twin.producer_id = 7000;
  twin.producer_epoch = epoch_of_twin;
  twin.last_sequence = 1;
  twin.batches = 1;
  twin.last_timestamp_ms = s.simulated() ? s.world().time().wall().time_since_epoch().count() : -1;
  s.cluster().seed_producer("t", 0, twin);
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_EQ(s.attempts("A").front().answered, seen);
  EXPECT_GT(s.tuple("A"), s.attempts("A").front().tuple);
  EXPECT_LE(s.sends("A"), 4U);
}
SCENARIO_TIMED(fault_seq, seq_17_foreign_twin_a) {
  seq_17(s, 0, broker_errc::out_of_order_sequence_number);
}
SCENARIO_TIMED(fault_seq, seq_17_foreign_twin_b) {
  seq_17(s, 1, broker_errc::invalid_producer_epoch);
}

}  // namespace
}  // namespace partita::testing
