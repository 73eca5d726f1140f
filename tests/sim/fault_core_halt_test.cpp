// CORE, case two: a failure must be seen before any later record passes.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::testing {
namespace {

SCENARIO_TIMED(fault_core, core_20_produce_between_failure_and_report_a) {
  s.start();
  s.hold_outcomes();
  s.broker("A#1 ->87");
  s.produce("A", {.waits = true});
  s.when("A#1 answered");
  s.produce("B");
  s.run(3s);
  EXPECT_EQ(s.letter("A"), "open") << "the application has not seen it yet";
  EXPECT_EQ(s.all_attempts().size(), 1U);
  s.release_outcomes();
  s.right("A=N, B=N");
  EXPECT_EQ(s.code("B"), client_errc::halted);
  static_cast<void>(s.recover(recovery::resubmit));
  s.right("log=A");
}

SCENARIO(fault_core, core_21_local_refusal_then_next_a) {
  s.produce("A", {.padding = 2'000'000});
  s.produce("B X@p1");
  s.right("A=N, B=N, X=D, log=");
  EXPECT_EQ(s.code("A"), client_errc::record_too_large);
  EXPECT_EQ(s.code("B"), client_errc::halted);
  EXPECT_EQ(s.failure("B").cause, client_errc::record_too_large);
  static_cast<void>(s.recover(recovery::discard));
  s.produce("C");
  s.right("C=D, log=C");
}
SCENARIO(fault_core, core_21_local_refusal_then_next_b) {
  s.start();
  s.produce("A", {.headers = {{"\xc3\x28", "v"}}});
  s.produce("B");
  s.right("A=N, B=N, log=");
  EXPECT_EQ(s.code("A"), client_errc::invalid_header);
  EXPECT_EQ(s.code("B"), client_errc::halted);
}

SCENARIO_TIMED(fault_core, core_22_in_flight_successors) {
  s.broker("A#1 ->87");
  s.produce("A B C");
  s.right("A=N");
  const std::size_t before = s.all_attempts().size();
  s.run(5s);
  EXPECT_LE(s.all_attempts().size(), before + 2) << "what was in flight may still arrive";
  EXPECT_EQ(s.code("A"), broker_errc::invalid_record);
  const recovery_report report = s.recover(recovery::take);
  EXPECT_EQ(s.names_of(report.taken), "A B C");
  s.right("B=N, C=N, log=");
}

void core_23(stage& s, const char* script, const char* fate_of_a) {
  s.set().delivery_timeout = 2s;
  s.set().request_timeout = 1s;
  s.broker(script);
  s.produce("A B");
  s.right(fate_of_a);
  EXPECT_GE(s.took("A"), 2s);
  EXPECT_EQ(
      s.status().state == partition_state::halted || s.status().state == partition_state::fencing,
      true);
  s.run(1s);
  s.produce("C");
  s.right("C=N");
  EXPECT_EQ(s.code("C"), client_errc::halted);
  const recovery_report report = s.recover(recovery::take);
  EXPECT_EQ(s.names_of(report.taken).substr(0, 3), "A B");
}
SCENARIO_TIMED(fault_core, core_23_expiry_also_halts_a) { core_23(s, "A#n ->19", "A=N"); }
SCENARIO_TIMED(fault_core, core_23_expiry_also_halts_b) { core_23(s, "A#n ->stuck", "A=U"); }

SCENARIO(fault_core, core_25_produce_from_failure_handler_a) {
  s.broker("A#1 ->10");
  s.produce("A", {.then = [&](const outcome&) { s.produce("A2"); }});
  s.right("A=N");
  s.right("A2=N, log=");
  EXPECT_EQ(s.code("A2"), client_errc::halted);
}

// One record of forty fails, refused, expired or refused locally; what was admitted before it is
// delivered, nothing behind it.
SCENARIO_SEEDS(fault_core, core_27_every_interleaving, 1000) {
  s.set().delivery_timeout = 3s;
  s.set().request_timeout = 1s;
  const int count = 40;
  const int bad = static_cast<int>(s.draws().below(count));
  const std::uint64_t kind = s.draws().below(3);
  const std::string name = "r" + std::to_string(bad);
  if (kind == 0) s.broker(name + "#1 ->87");
  if (kind == 1) s.broker(name + "#n ->19");
  for (int i = 0; i < count; ++i) {
    s.produce("r" + std::to_string(i),
              {.padding = i == bad && kind == 2 ? std::size_t{2'000'000} : 0});
    if (s.draws().chance(0.5)) s.run(std::chrono::microseconds(s.draws().below(400)));
  }
  s.await(name);
  std::string before;
  for (int i = 0; i < bad; ++i) {
    s.right("r" + std::to_string(i) + "=D");
    before += (i > 0 ? " r" : "r") + std::to_string(i);
  }
  s.run(1s);
  EXPECT_EQ(s.log(), before);
  std::string kept;
  const recovery_report report = s.recover(recovery::take);
  s.await_all();
  for (int i = bad; i < count; ++i) {
    const std::string each = "r" + std::to_string(i);
    EXPECT_NE(s.letter(each), "D") << each;
    // The bytes of a record that is too large were never taken over: there is nothing to hand back.
    if (i == bad && kind == 2) continue;
    if (s.code(each) != client_errc::halted) kept += (kept.empty() ? "" : " ") + each;
  }
  EXPECT_EQ(s.names_of(report.taken), kept);
}

// No mixture of answers and give-ups may break the books.
SCENARIO_SEEDS(fault_core, core_18_random_answers, 2000) {
  s.set().delivery_timeout = 4s;
  s.set().request_timeout = 1s;
  s.late_frames_allowed();
  if (s.draws().chance(0.5)) s.set().on_failure = failure_policy::skip;
  const std::vector<std::string> words = {
      "+>ok",    "+>ok",   "->19",   "->6",           "->2",    "+>7",         "+>20",
      "+>6",     "+>(-1)", "+>cut",  "->cut",         "+>mute", "->stuck",     "+>ok@300ms",
      "->19@2s", "+>56",   "->3",    "+>cut late=2s", "->45",   "+>6 base=-1", "+>reset",
      "->10",    "->87",   "+>7@1s", "->59"};
  const int count = 10;
  for (int i = 0; i < count; ++i)
    for (int attempt = 1; attempt <= 4; ++attempt)
      s.broker("r" + std::to_string(i) + "#" + std::to_string(attempt) + " " +
               words[s.draws().below(words.size())]);
  for (int i = 0; i < count; ++i) {
    s.produce("r" + std::to_string(i) + "@p" + std::to_string(s.draws().below(2)));
    if (s.draws().chance(0.3)) s.run(std::chrono::milliseconds(s.draws().below(500)));
    if (s.draws().chance(0.1)) static_cast<void>(s.recover(recovery::discard));
  }
  s.await_all();
}

}  // namespace
}  // namespace partita::testing
