// TIME: deadlines, close, flush, pause.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace partita::testing {
namespace {

SCENARIO_TIMED(fault_time, time_01_silent_peer_deadline) {
  s.set().delivery_timeout = 2s;
  s.set().request_timeout = 2s;
  s.broker("A#1 ->stuck");
  s.produce("A");
  s.when("A#1 seen");
  s.silent(1);
  s.right("A=U");
  EXPECT_GE(s.took("A"), 2s);
  EXPECT_LE(s.took("A"), 2100ms);
}

SCENARIO_TIMED(fault_time, time_02_never_sent_deadline) {
  s.set().delivery_timeout = 2s;
  s.start();
  s.refuse_all();
  s.produce("A");
  s.right("A=N");
  EXPECT_GE(s.took("A"), 2s);
  EXPECT_LE(s.took("A"), 2100ms);
  s.run(3s);
  s.ok_all();
  s.run(10s);
  EXPECT_EQ(s.sends("A"), 0U);
  s.right("log=");
}

SCENARIO(fault_time, time_06_linger_inside_deadline) {
  producer_config config;
  config.bootstrap_servers = "b:9092";
  config.linger = 1s;
  config.delivery_timeout = 500ms;
  config.request_timeout = 400ms;
  const std::string text = validate(config).message();
  EXPECT_NE(text.find("linger.ms"), std::string::npos) << text;
  EXPECT_NE(text.find("delivery.timeout.ms"), std::string::npos) << text;
}

void time_07(stage& s, int retries, std::size_t sends) {
  s.set().retries = retries;
  s.set().enable_idempotence = true;
  s.broker("A#n ->19");
  s.produce("A");
  s.right("A=N, log=");
  EXPECT_EQ(s.sends("A"), sends);
}
SCENARIO(fault_time, time_07_attempt_count_exact_retries_1) { time_07(s, 1, 2); }
SCENARIO(fault_time, time_07_attempt_count_exact_retries_3) { time_07(s, 3, 4); }
SCENARIO(fault_time, time_07_attempt_count_exact_retries_0) {
  s.set().enable_idempotence = false;
  s.set().retries = 0;
  s.broker("A#n ->19");
  s.produce("A");
  s.right("A=N, log=");
  EXPECT_EQ(s.sends("A"), 1U);
}

SCENARIO_TIMED(fault_time, time_08_admission_deadline) {
  s.set().buffer_memory_bytes = 1100;
  s.set().batch_size_bytes = 1000;
  s.set().max_block = 1s;
  s.broker("F#n ->stuck");
  s.produce("F", {.padding = 600});
  s.produce("B", {.padding = 600, .waits = true});
  s.right("B=N");
  EXPECT_EQ(s.code("B"), client_errc::admission_timeout);
  EXPECT_EQ(s.failure("B").ended_by, limit::admission_timeout);
  EXPECT_GE(s.took("B"), 1s);
  EXPECT_LE(s.took("B"), 1100ms);
}

SCENARIO_TIMED(fault_time, time_12_destroy_with_pending) {
  s.start();
  s.refuse(2);
  s.broker("D#n ->stuck, E#n ->stuck");
  s.produce("A@p1 B@p1 C@p1 D@p0 E@p0");
  s.when("D#1 seen");
  s.run(5ms);
  s.destroy();
  s.right("A=N, B=N, C=N, D=U, E=U");
}

tally time_13(stage& s, std::chrono::milliseconds deadline) {
  for (int i = 0; i < 100; ++i) s.produce("r" + std::to_string(i));
  const auto before = s.now();
  const close_report report = s.close(deadline);
  EXPECT_LE(s.now() - before, deadline + 100ms);
  EXPECT_EQ(report.answered.total(), 100U);
  return report.answered;
}
SCENARIO_TIMED(fault_time, time_13_close_unreachable_a) {
  s.start();
  s.refuse_all();
  EXPECT_EQ(time_13(s, 2s).not_written, 100U);
}
SCENARIO_TIMED(fault_time, time_13_close_unreachable_b) {
  s.start();
  for (int b = 1; b <= 3; ++b) s.silent(b);
  EXPECT_EQ(time_13(s, 2s).delivered, 0U);
}
SCENARIO_TIMED(fault_time, time_13_close_unreachable_c) {
  s.start();
  s.hold_outcomes();
  for (int i = 0; i < 100; ++i) s.produce("r" + std::to_string(i), {.waits = true});
  const close_report report = s.close(2s);
  EXPECT_EQ(report.answered, (tally{100, 0, 0}));
  s.release_outcomes();
  s.right("r0=D, r99=D");
}
SCENARIO_TIMED(fault_time, time_13_close_unreachable_d) {
  s.start();
  s.refuse_all();
  const tally told = time_13(s, 0ms);
  EXPECT_EQ(told.delivered, 0U);
}

SCENARIO_SEEDS(fault_time, time_14_produce_during_close, 1000) {
  s.start();
  const auto stop = std::chrono::microseconds(s.draws().below(4000));
  bool closed = false;
  std::optional<operation<close_report>> closing;
  int next = 0;
  const auto begun = s.now();
  while (next < 60) {
    s.produce("r" + std::to_string(next++) + "@p" + std::to_string(s.draws().below(3)));
    if (s.draws().chance(0.6)) s.run(std::chrono::microseconds(s.draws().below(200)));
    if (!closed && s.now() - begun >= stop) {
      closing.emplace(s.producer().close(2s));
      closed = true;
    }
  }
  if (!closing) closing.emplace(s.producer().close(2s));
  EXPECT_TRUE(s.until([&] { return closing->done(); }, 3s));
  s.await_all();
  for (int i = 0; i < next; ++i) {
    const std::string name = "r" + std::to_string(i);
    if (s.letter(name) == "N") {
      EXPECT_EQ(s.code(name), client_errc::closed);
    }
  }
}

SCENARIO(fault_time, time_16_flush_is_a_barrier) {
  s.set().on_failure = failure_policy::skip;
  s.broker("A#1 +>ok@100ms");  // not before it is flushed
  s.start();
  s.produce("A");
  operation<tally> flushed = s.producer().flush();
  for (int i = 0; i < 50; ++i) s.broker("r" + std::to_string(i) + "#1 ->87");
  for (int i = 0; i < 50; ++i) s.produce("r" + std::to_string(i));
  // The flush waits for A only, whatever comes of the others.
  EXPECT_TRUE(s.until([&] { return flushed.done(); }, 1s));
  EXPECT_EQ(std::move(flushed).get(), (tally{1, 0, 0}));
  s.right("A=D");
}

SCENARIO_TIMED(fault_time, time_17_flush_ends_linger_a) {
  s.cold();
  s.set().linger = 5s;
  s.set().batch_records_max = 100;
  s.produce("A");
  EXPECT_EQ(s.flush(), (tally{1, 0, 0}));
  EXPECT_LT(s.took("A"), 100ms);
}
// Eleven callers, and room for five of their records.
void time_17(stage& s) {
  s.set().linger = 10s;
  s.set().delivery_timeout = 20s;
  s.set().batch_records_max = 100;
  const auto begun = s.now();
  for (int i = 0; i < 11; ++i) {
    s.produce("r" + std::to_string(i), {.padding = 100, .waits = true});
    s.run(5us);
  }
  s.await_all();
  for (int i = 0; i < 11; ++i) EXPECT_EQ(s.letter("r" + std::to_string(i)), "D");
  EXPECT_LT(s.now() - begun, 1s);
  s.right("log=r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10");
}
SCENARIO_TIMED(fault_time, time_17_flush_ends_linger_b) {
  s.cold();
  s.set().buffer_memory_bytes = 1'200;
  s.set().batch_size_bytes = 1'000;
  time_17(s);
}
SCENARIO_TIMED(fault_time, time_17_flush_ends_linger_b_share) {
  s.set().partition_memory_bytes = 1'200;
  s.set().batch_size_bytes = 1'000;
  time_17(s);
}

// Half of A's frame is in the socket when its time is up.
void time_19(stage& s, std::optional<std::chrono::milliseconds> own_deadline) {
  s.start();
  const auto connections = s.cluster().counters().connections;
  s.world().set_link_fault(1, {.stall_after = 60});
  s.produce("A", {.options = {.delivery_timeout = own_deadline}});
  s.right("A=N");
  EXPECT_EQ(s.code("A"), client_errc::delivery_timeout);
  EXPECT_GE(s.took("A"), 2s);
  EXPECT_LE(s.took("A"), 2100ms);
  s.ok(1);
  static_cast<void>(s.recover(recovery::discard));
  s.produce("B");
  s.right("B=D, log=B");
  EXPECT_GT(s.cluster().counters().connections, connections);
  EXPECT_EQ(s.sends("A"), 0U);
}
SCENARIO_TIMED(fault_time, time_19_half_written_request) {
  s.set().delivery_timeout = 2s;
  time_19(s, {});
}
SCENARIO_TIMED(fault_time, time_19_half_written_request_own_deadline) { time_19(s, 2s); }
// It shares its frame with records of other partitions, whose time is not up.
SCENARIO_TIMED(fault_time, time_19_half_written_request_shared) {
  s.set_cluster().topics["t"].replicas = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  s.start();
  s.world().set_link_fault(1, {.stall_after = 60});
  s.produce("A@p0", {.options = {.delivery_timeout = 1s}});
  s.produce("B@p1 C@p2");
  s.right("A=N");
  s.ok(1);
  s.right("B=D, C=D, log=, log(p1)=B, log(p2)=C");
  static_cast<void>(s.recover(recovery::discard));
  s.produce("D");
  s.right("D=D, log=D");
}
SCENARIO_TIMED(fault_time, time_23_pause_keeps_accepting) {
  s.set().on_failure = failure_policy::skip;
  s.set().delivery_timeout = 2s;
  s.start();
  s.pause();
  s.produce("B");
  s.run(1500ms);
  s.produce("A");
  s.run(1s);
  EXPECT_EQ(s.all_attempts().size(), 0U);
  s.right("B=N");
  EXPECT_LE(s.took("B"), 2100ms);
  s.resume();
  s.produce("C");
  s.right("A=D, C=D, log=A C");
}

// close(1s) at awkward moments: back in time, every record one truthful outcome, and a second call
// finds nothing left to do.
void close_now(stage& s, std::uint64_t records) {
  const auto before = s.now();
  const close_report report = s.close(1s);
  EXPECT_LE(s.now() - before, 1100ms);
  EXPECT_EQ(report.answered.total(), records);
  s.await_all();
  EXPECT_EQ(s.close(1s).answered.total(), 0U);
}
api_fault silence(api which) {
  api_fault fault;
  fault.api = which;
  fault.reply = reply::never;
  fault.times = always;
  return fault;
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_connecting) {
  s.cold();
  s.produce("A B");
  close_now(s, 2);
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_api_versions) {
  s.cold();
  s.cluster().inject(silence(api::api_versions));
  s.produce("A B");
  s.run(100ms);
  close_now(s, 2);
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_id_request) {
  s.cold();
  s.cluster().inject(silence(api::init_producer_id));
  s.produce("A B");
  s.run(100ms);
  close_now(s, 2);
  s.right("A=N, B=N");
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_first_metadata) {
  s.cold();
  s.cluster().inject(silence(api::metadata));
  s.produce("A B");
  s.run(100ms);
  close_now(s, 2);
  s.right("A=N, B=N");
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_backoff) {
  s.broker("A#n ->19");
  s.produce("A B");
  s.when("A#3 answered");
  close_now(s, 2);
  s.right("A=N, B=N, log=");
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_halted) {
  s.broker("A#1 ->87");
  s.produce("A B C");
  s.right("A=N");
  close_now(s, 2);
  s.right("B=N, C=N, log=");
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_in_doubt) {
  s.broker("A#n +>7");
  s.produce("A B");
  s.when("A#2 answered");
  close_now(s, 2);
  s.right("A=U|D");
}
SCENARIO_TIMED(fault_time, time_15_close_everywhere_from_a_completion) {
  std::optional<close_report> report;
  s.produce("A", {.then = [&](const outcome&) {
              s.producer().close(1s).then([&](const close_report& done) { report = done; });
            }});
  s.produce("B C");
  EXPECT_TRUE(s.until([&] { return report.has_value(); }, 1100ms));
  s.await_all();
}

SCENARIO_TIMED(fault_time, time_21_wall_clock_jumps) {
  s.broker("A#1 +>ok@1s");
  s.start();
  s.produce("A");
  s.when("A#1 seen");
  s.world().time().set_wall_clock(-1h);
  s.produce("B");
  s.run(100ms);
  s.world().time().set_wall_clock(2h);
  s.right("A=D, B=D, log=A B");
  EXPECT_LE(s.took("B"), 1100ms);
  // A silent leader still ends a record at its deadline and not before.
  s.silent(1);
  s.produce("C");
  s.world().time().set_wall_clock(30min);  // less than the state's horizon
  s.await("C");
  EXPECT_GE(s.took("C"), 10s);
  EXPECT_LE(s.took("C"), 10100ms);
}

SCENARIO_TIMED(fault_time, time_22_machine_suspended) {
  s.set().max_in_flight = 1;
  s.late_frames_allowed();
  s.broker("C#n ->stuck");
  s.start();
  s.produce("A@p1");
  s.when("A#1 seen");  // its answer is on its way
  s.produce("C@p0 B@p0");
  s.when("C#1 seen");
  s.world().time().sleep(10min);
  const auto woken = s.now();
  const auto connections = s.cluster().counters().connections;
  s.run(1s);
  EXPECT_LE(s.cluster().counters().connections - connections, 15U);
  for (const char* each : {"A", "B", "C"}) s.record(each).limit = 11min;
  s.right("A=D|U, B=N, C=U");
  s.ok_all();
  s.rule();
  static_cast<void>(s.recover(recovery::discard));
  static_cast<void>(s.recover(recovery::discard, 1));
  s.produce("E");
  s.right("E=D");
  EXPECT_LE(s.now() - woken, 5s);
}

// Ten records under one admission.
std::vector<outcome> ten_at_once(stage& s, std::vector<std::string>& values) {
  std::vector<partita::record> all;
  for (int i = 0; i < 10; ++i) values.push_back("t" + std::to_string(i) + std::string(400, '.'));
  for (const std::string& value : values) {
    partita::record& one = all.emplace_back();
    one.topic = "t";
    one.partition = 1;
    one.value = value;
  }
  auto pending = s.producer().produce_batch(all);
  EXPECT_TRUE(s.until([&] { return pending.done(); }));
  return std::move(pending).get();
}
SCENARIO_TIMED(fault_time, time_09_all_or_nothing_admission_no_room) {
  s.set().buffer_memory_bytes = 5'600;
  s.set().batch_size_bytes = 2'000;
  s.set().max_block = 1s;
  s.broker("F#n ->stuck, G#n ->stuck, H#n ->stuck, I#n ->stuck, J#n ->stuck, K#n ->stuck");
  s.produce("F G H I J K", {.padding = 400});
  const std::uint64_t before = s.whole_status().buffered_bytes;
  std::vector<std::string> values;
  for (const outcome& each : ten_at_once(s, values)) {
    ASSERT_NE(each.failure(), nullptr);
    EXPECT_EQ(each.failure()->fate, fate::not_written);
  }
  EXPECT_EQ(s.whole_status().buffered_bytes, before);
  EXPECT_EQ(s.cluster().log("t", 1).size(), 1U) << "the warm one only";
}
SCENARIO_TIMED(fault_time, time_09_all_or_nothing_admission_room) {
  s.set().buffer_memory_bytes = 20'000;
  s.set().batch_size_bytes = 2'000;
  s.log_may_differ();  // the ten have no names
  std::vector<std::string> values;
  for (const outcome& each : ten_at_once(s, values)) EXPECT_TRUE(each.is_delivered());
  const auto log = s.cluster().log("t", 1);
  ASSERT_EQ(log.size(), 11U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(log[i + 1].value, values[i]);
}

}  // namespace
}  // namespace partita::testing
