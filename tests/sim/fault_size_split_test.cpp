// SIZE: batches that the broker refuses in part.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

void limit(stage& s, const char* bytes) {
  s.start();
  s.cluster().alter_topic("t", "max.message.bytes", bytes);
}
std::string names(const std::string& letter, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += (i == 0 ? "" : " ") + letter + std::to_string(i);
  return all;
}

SCENARIO_TIMED(fault_size, size_01_split_and_blame) {
  s.set().on_failure = failure_policy::skip;
  s.set().linger = 20ms;
  s.batches_of(10);
  s.set().batch_size_bytes = 1 << 20;
  limit(s, "10000");
  s.produce(names("A", 4), {.padding = 1000});
  s.produce("L", {.padding = 20'000});
  s.produce(names("B", 5), {.padding = 1000});
  s.await_all();
  s.right("L=N, log=A0 A1 A2 A3 B0 B1 B2 B3 B4");
  EXPECT_EQ(s.code("L"), broker_errc::message_too_large);
  EXPECT_NE(s.failure("L").detail.find("max.message.bytes"), std::string::npos);
  EXPECT_LE(s.all_attempts().size(), 8U);
}

SCENARIO_WITH(fault_size, size_02_split_makes_progress, (5), (false)) {
  s.set().linger = 20ms;
  s.batches_of(512);
  s.set().batch_size_bytes = 1 << 20;
  limit(s, "2000");
  s.produce(names("A", 512), {.padding = 1000});
  s.await_all();
  EXPECT_LE(s.elapsed(), 5s);
  EXPECT_EQ(s.log(), names("A", 512));
}

void single(stage& s) {
  limit(s, "5000");
  s.produce("A", {.padding = 20'000});
  s.await("A");
}
SCENARIO(fault_size, size_03_single_record_too_large_halt) {
  single(s);
  s.right("A=N");
  EXPECT_EQ(s.sends("A"), 1U);
  s.produce("B");
  s.right("B=N, log=");
  EXPECT_EQ(s.code("B"), client_errc::halted);
}
SCENARIO(fault_size, size_03_single_record_too_large_skip) {
  s.set().on_failure = failure_policy::skip;
  single(s);
  s.produce("B");
  s.right("A=N, B=D, log=B");
  EXPECT_EQ(s.sends("A"), 1U);
}

/// B has no key, which a compacted topic does not take.
void compacted(stage& s) {
  s.set().linger = 20ms;
  s.batches_of(3);
  s.start();
  s.cluster().alter_topic("t", "cleanup.policy", "compact");
  s.produce("A");
  s.produce("B", {.key = {}});
  s.produce("C");
}
SCENARIO_TIMED(fault_size, size_05_errors_per_record_skip) {
  s.set().on_failure = failure_policy::skip;
  compacted(s);
  s.right("A=D, B=N, C=D, log=A C");
  EXPECT_EQ(s.code("B"), broker_errc::invalid_record);
  EXPECT_NE(s.failure("B").detail.find("key"), std::string::npos) << s.failure("B").detail;
}
SCENARIO_TIMED(fault_size, size_05_errors_per_record_halt) {
  compacted(s);
  s.right("A=D, B=N, log=A");
  const recovery_report report = s.recover(recovery::take);
  EXPECT_EQ(s.names_of(report.taken), "B C");
  s.right("C=N");
  EXPECT_EQ(s.code("C"), client_errc::handed_back);
}

SCENARIO_TIMED(fault_size, size_06_timestamp_window) {
  s.set().on_failure = failure_policy::skip;
  s.set().linger = 20ms;
  s.batches_of(2);
  s.start();
  s.produce("A");
  s.produce("B", {.stamp = s.world().time().wall() + 2h});
  s.right("A=D, B=N, log=A");
  EXPECT_EQ(s.code("B"), broker_errc::invalid_timestamp);
  EXPECT_FALSE(s.failure("B").detail.empty());
}

SCENARIO_TIMED(fault_time, time_18_flush_counts_records) {
  s.set().linger = 5ms;
  s.batches_of(8);
  s.set().batch_size_bytes = 1 << 20;
  limit(s, "6000");
  s.broker("A0#2 +>ok@500ms, A4#2 +>ok@500ms");
  s.produce(names("A", 8), {.padding = 1000});
  const tally counts = s.flush();
  EXPECT_EQ(counts.delivered, 8U);
  EXPECT_EQ(s.log(), names("A", 8));
}

}  // namespace
}  // namespace partita::testing
