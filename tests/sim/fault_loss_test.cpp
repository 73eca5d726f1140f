// LOSS: a record that is lost, or called delivered without being in the log.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace partita::testing {
namespace {

std::string numbered(const char* prefix, int count) {
  std::string names;
  for (int i = 1; i <= count; ++i) names += prefix + std::to_string(i) + " ";
  names.pop_back();
  return names;
}

SCENARIO(fault_loss, loss_03_first_pair_swapped) {
  s.cold();
  s.broker("A#1 ->6");
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
  const auto all = s.all_attempts();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].names, all[0].names);
  EXPECT_EQ(all[2].names.front(), "B");
}

SCENARIO_TIMED(fault_loss, loss_04_first_batch_never_fits) {
  s.cold();
  s.broker("A#n ->45");
  s.produce("A B");
  s.right("A=N");
  EXPECT_EQ(s.status().state, partition_state::halted);
  EXPECT_LE(s.sends("A"), 200U);
  EXPECT_EQ(s.sends("B"), 0U);
}

SCENARIO(fault_loss, loss_05_twenty_callers_one_offset) {
  s.cold();
  std::string script;
  for (int i = 1; i <= 20; ++i)
    script += (i > 1 ? ", r" : "r") + std::to_string(i) + "#1 +>ok@20ms";
  s.broker(script);
  s.produce(numbered("r", 20));
  std::set<std::int64_t> offsets;
  for (int i = 1; i <= 20; ++i)
    offsets.insert(s.delivery("r" + std::to_string(i)).offset.value_or(-1).value);
  EXPECT_EQ(offsets.size(), 20U);
  s.right("log=" + numbered("r", 20));
}

SCENARIO_SEEDS(fault_loss, loss_06_starved_client, 10) {
  s.set().on_failure = failure_policy::skip;
  s.set().request_timeout = 500ms;
  s.start();
  // The client's threads run ten milliseconds of each second: for the rest nothing reaches it.
  for (int second = 0; second < 60; ++second) {
    s.after(std::chrono::seconds(second) + 10ms, [&s] {
      for (int b = 1; b <= 3; ++b) s.world().cut_link(b);
    });
    s.after(std::chrono::seconds(second + 1), [&s] {
      for (int b = 1; b <= 3; ++b) s.world().heal_link(b);
    });
  }
  for (int i = 0; i < 1000; ++i) {
    s.produce("r" + std::to_string(i) + "@p" + std::to_string(i % 3));
    s.run(40ms);
  }
  s.await_all();
}

SCENARIO(fault_loss, loss_08_one_entry_per_partition) {
  s.produce(numbered("r", 10));
  s.await_all();
  s.right("log=" + numbered("r", 10));
  std::set<std::uint64_t> requests;
  const auto all = s.all_attempts();
  for (const attempt_note& each : all) requests.insert(each.request);
  EXPECT_EQ(requests.size(), all.size()) << "a request names p0 twice";
  EXPECT_EQ(all.size(), 10U);
}

void loss_09(stage& s, const char* script) {
  s.broker(script);
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
  EXPECT_EQ(s.delivery("A").offset->value + 1, s.delivery("B").offset->value);
}
SCENARIO(fault_loss, loss_09_implied_success_a) { loss_09(s, "A#1 +>20, A#2 ->19, A#3 ->19"); }
SCENARIO(fault_loss, loss_09_implied_success_b) { loss_09(s, "A#1 +>7, A#2 ->19, A#3 ->19"); }

SCENARIO(fault_loss, loss_10_success_is_never_inferred_a) {
  s.cold();
  s.broker("A#1 ->19@50ms");
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
}
SCENARIO(fault_loss, loss_10_success_is_never_inferred_b) {
  s.start();
  s.forget(0);
  s.broker("A#1 ->19@50ms");
  s.produce("A B");
  // B was taken by a broker without memory; A can not follow it any more and is never called
  // delivered for that.
  s.right("B=D");
  s.await("A");
  if (s.letter("A") != "D") {
    EXPECT_EQ(s.log(), "B");
  }
}

metadata_lie without_partitions() {
  metadata_lie lie;
  lie.topic = "t";
  lie.partition_count = 0;
  return lie;
}

SCENARIO_TIMED(fault_loss, loss_01_topic_without_partitions_a) {
  s.cold();
  s.cluster().inject(without_partitions());
  s.after(3s, [&s] { s.cluster().clear_faults(); });
  s.produce("A");
  s.right("A=D, log=A");
  EXPECT_GE(s.took("A"), 3s);
  EXPECT_LE(s.took("A"), 4500ms);
}
SCENARIO_TIMED(fault_loss, loss_01_topic_without_partitions_b) {
  s.cold();
  s.cluster().inject(without_partitions());
  s.produce("A");
  s.right("A=N");
  EXPECT_EQ(s.log(), "");
}

SCENARIO_TIMED(fault_loss, loss_02_topic_flicker) {
  s.set().metadata_max_age = 2s;
  s.produce("a b c");
  s.right("a=D, b=D, c=D");
  metadata_lie gone;
  gone.topic = "t";
  gone.topic_code = broker_errc::unknown_topic_or_partition;
  gone.times = 1;
  s.cluster().inject(gone);
  s.run(5s);
  s.produce("A");
  s.right("A=D, log=a b c A");
}

SCENARIO(fault_loss, loss_07_lost_tail_noticed) {
  s.expect_contradiction();
  s.log_may_differ();
  s.produce("A B C");
  s.right("A=D, B=D, C=D");
  const offset kept = s.delivery("A").offset->value + 1;
  s.cluster().roll_back("t", 0, kept);
  s.produce("D");
  s.right("D=U");
  EXPECT_GE(s.whole_status().contradictions, 1U);
  EXPECT_EQ(s.status().state, partition_state::halted);
}

}  // namespace
}  // namespace partita::testing
