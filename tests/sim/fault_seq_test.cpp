// SEQ: sequences, epochs and producer ids.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

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
  if (used.epoch == idle.producer_epoch.value)
    EXPECT_EQ(used.sequence, 7);
  else
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
      if (seen.tuple.epoch == a.back().tuple.epoch) EXPECT_GE(seen.at, a.back().at + 20ms);
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

}  // namespace
}  // namespace partita::testing
