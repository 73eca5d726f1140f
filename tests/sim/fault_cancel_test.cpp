// Rows of CORE, TIME and MEM in which callers cancel, and of DUP and TIME with deadlines of single
// records.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <malloc.h>

#include <stop_token>
#include <string>

namespace partita::testing {
namespace {

const produce_how cancellable{.cancellable = true};

/// A is stored or not, cancelled when that attempt was answered; B must get numbers of its own.
void cancel_then_b(stage& s, const std::string& script, const std::string& fact) {
  s.broker(script);
  s.produce("A", cancellable);
  s.when(fact);
  s.cancel("A");
  s.produce("B");
  s.await("B");
  s.rule();
  s.right("A=D|U, B=D, log=A B");
  EXPECT_GT(s.tuple("B"), s.tuple("A"));
}
SCENARIO(fault_core, core_01_timeout_then_cancel) { cancel_then_b(s, "A#1 +>7", "A#1 answered"); }
SCENARIO(fault_core, core_02_after_append_then_cancel) {
  cancel_then_b(s, "A#1 +>20", "A#1 answered");
}
SCENARIO(fault_core, core_03_ambiguous_then_refused_a) {
  cancel_then_b(s, "A#1 +>20, A#2 ->19", "A#2 answered");
}
SCENARIO(fault_core, core_03_ambiguous_then_refused_b) {
  cancel_then_b(s, "A#1 +>7, A#2 ->19", "A#2 answered");
}
SCENARIO(fault_core, core_04_lost_answer_then_refused_a) {
  cancel_then_b(s, "A#1 +>cut, A#2 ->19", "A#2 answered");
}
SCENARIO_TIMED(fault_core, core_04_lost_answer_then_refused_b) {
  cancel_then_b(s, "A#1 +>mute, A#2 ->19", "A#2 answered");
}
SCENARIO(fault_core, core_07_foreign_leader_answer) {
  cancel_then_b(s, "A#1 +>6 base=-1", "A#1 answered");
}
SCENARIO(fault_core, core_09_unexplained_error_first_b) {
  cancel_then_b(s, "A#1 +>(-1)", "A#1 answered");
}

void leader_gone(stage& s, const std::string& script) {
  s.broker(script);
  s.produce("A", cancellable);
  s.when("A#1 stored");
  s.move(0, 2);
  s.when("A#1 answered");
  s.cancel("A");
  s.produce("B");
  s.right("A=D|U, B=D, log=A B");
  EXPECT_GT(s.tuple("B"), s.tuple("A"));
}
SCENARIO(fault_core, core_05_leader_lost_while_waiting) { leader_gone(s, "A#1 +>6"); }
SCENARIO(fault_core, core_06_storage_or_topic_gone_after_append_a) { leader_gone(s, "A#1 +>56"); }
SCENARIO(fault_core, core_06_storage_or_topic_gone_after_append_b) { leader_gone(s, "A#1 +>3"); }

SCENARIO_TIMED(fault_core, core_10_cancel_while_waiting) {
  s.broker("A#1 +>ok@1s");
  s.produce("A", cancellable);
  s.produce("X@p1");
  s.when("A#1 seen");
  const auto asked = s.elapsed();
  s.cancel("A");
  s.until([&] { return s.answered("A"); });
  EXPECT_LE(s.elapsed() - asked, 100ms);
  s.produce("B");
  s.right("A=U, X=D, B=D, log=A B");
  EXPECT_EQ(s.sends("A"), 1U) << "the cancel closed no connection";
}

SCENARIO_TIMED(fault_core, core_11_cancel_unsent) {
  s.start();
  s.refuse(1);
  s.produce("A", cancellable);
  s.cancel("A");
  s.right("A=N");
  EXPECT_LE(s.took("A"), 100ms);
  EXPECT_EQ(s.code("A"), client_errc::cancelled);
  s.ok(1);
  s.produce("B");
  s.right("B=D, log=B");
  EXPECT_EQ(s.sends("A"), 0U);
}

void same_size(stage& s, const char* next, const char* right) {
  s.set().linger = 50ms;
  s.batches_of(3);
  s.broker("A1#1 +>7");
  s.produce("A1 A2 A3", cancellable);
  s.when("A1#1 answered");
  s.cancel("A1 A2 A3");
  s.produce(next);
  s.right(right);
}
SCENARIO_TIMED(fault_core, core_12_same_size_batches_a) {
  same_size(s, "B1 B2 B3", "A1=U, A2=U, A3=U, B1=D, B2=D, B3=D, log=A1 A2 A3 B1 B2 B3");
}
SCENARIO_TIMED(fault_core, core_12_same_size_batches_b) {
  same_size(s, "B1 B2", "A1=U, A2=U, A3=U, B1=D, B2=D, log=A1 A2 A3 B1 B2");
  EXPECT_LE(s.took("B2"), 1s);
}

SCENARIO_TIMED(fault_core, core_16_pipelined_successors) {
  s.broker("A#1 +>cut, A#2 ->19, A#3 ->19, A#4 ->19");
  s.produce("A B C", cancellable);
  s.when("A#2 answered");
  s.cancel("A");
  s.right("A=U, B=D, C=D, log=A B C");
  EXPECT_TRUE(s.same_bytes("A"));
  EXPECT_TRUE(s.same_bytes("B"));
  EXPECT_TRUE(s.same_bytes("C"));
}

// TIME

SCENARIO_TIMED(fault_time, time_03_cancel_before_topic_or_id_a) {
  s.cold();
  s.start();
  s.silent(1);
  s.silent(2);
  s.silent(3);
  s.produce("A B", cancellable);
  s.run(100ms);
  s.cancel("A");
  s.until([&] { return s.answered("A"); });
  EXPECT_LE(s.took("A"), 200ms);
  s.ok_all();
  s.right("A=N, B=D, log=B");
}

void one_of_two_unsent(stage& s) {
  s.batches_of(2);
  s.start();
  s.pause();
  s.produce("A B", cancellable);
  s.cancel("A");
  s.right("A=N");
  s.resume();
  s.right("B=D, log=B");
}
SCENARIO(fault_time, time_04_cancel_one_of_two_a) { one_of_two_unsent(s); }
SCENARIO_TIMED(fault_time, time_04_cancel_one_of_two_b) {
  s.set().linger = 50ms;
  s.batches_of(2);
  s.broker("A#1 +>ok@1s");
  s.produce("A B", cancellable);
  s.when("A#1 seen");
  s.cancel("A");
  s.right("A=U, B=D, log=A B");
  EXPECT_LE(s.took("A"), 200ms);
  EXPECT_GE(s.took("B"), 1s);
}

SCENARIO(fault_time, time_05_admission_and_delivery_apart_a) {
  std::stop_source source;
  produce_how how;
  how.options.admission_cancellation = source.get_token();
  s.start();
  s.pause();
  s.produce("A", how);
  source.request_stop();
  s.resume();
  s.right("A=D, log=A");
}
SCENARIO(fault_time, time_05_admission_and_delivery_apart_b) {
  std::stop_source source;
  produce_how how;
  how.options.cancellation = source.get_token();
  s.start();
  s.pause();
  s.produce("A", how);
  source.request_stop();
  s.right("A=N");
  s.resume();
  s.produce("B");
  s.right("B=D, log=B");
}

SCENARIO_TIMED(fault_time, time_10_answer_beats_cancel) {
  s.broker("A#1 +>ok");
  s.produce("A", cancellable);
  s.when("A#1 answered");
  s.cancel("A");
  s.right("A=D, log=A");
}

SCENARIO_TIMED(fault_time, time_11_late_truth) {
  s.set().request_timeout = 5s;
  s.broker("A#1 +>ok@3s");
  s.produce("A", cancellable);
  s.run(2s);
  s.cancel("A");
  s.right("A=U");
  EXPECT_NE(s.failure("A").ticket.value, 0U);
  s.run(5s);
  s.right("log=A");
  EXPECT_EQ(s.sends("A"), 1U) << "no second copy";
}

SCENARIO_TIMED(fault_time, time_25_cancel_again) {
  s.broker("A#1 +>ok@500ms");
  s.produce("A B C", cancellable);
  s.when("A#1 seen");
  s.cancel("A");
  s.cancel("A");
  s.right("A=U");
  s.right("B=D, C=D");
  s.cancel("A B");
  static_cast<void>(s.close(2s));
  s.cancel("A C");
  s.right("A=U, B=D, C=D, log=A B C");
}

SCENARIO_TIMED(fault_time, time_26_cancel_at_every_point_of_a_life) {
  s.set().linger = 20ms;
  s.batches_of(2);
  s.broker("A#1 +>7, A#2 ->19");
  produce_how how = cancellable;
  s.produce("A X", how);
  // Anywhere between the call and long after the answer.
  s.run(std::chrono::milliseconds(s.draws().below(600)));
  s.cancel("A");
  s.right("X=D");
  const std::string letter = s.letter("A");
  s.right(letter == "N" ? "log=X" : "log=A X");
}

SCENARIO_TIMED(fault_time, time_26_cancel_while_it_waits_for_room) {
  s.set().buffer_memory_bytes = 1100;
  s.set().batch_size_bytes = 1000;
  s.broker("F#1 +>ok@1s");
  s.produce("F", {.padding = 600});
  s.when("F#1 seen");
  s.produce("A B", {.padding = 600, .waits = true, .cancellable = true});
  s.run(100ms);
  s.cancel("A");
  s.until([&] { return s.answered("A"); });
  EXPECT_LE(s.took("A"), 200ms);
  s.right("A=N, F=D, B=D, log=F B");
}

SCENARIO_TIMED(fault_time, time_27_expired_in_the_queue) {
  s.set().on_failure = failure_policy::skip;
  s.set().max_in_flight = 1;
  s.batches_of(3);
  s.set().linger = 1ms;
  s.broker("W#1 +>ok@2s");
  s.set().request_timeout = 5s;
  s.produce("W");
  s.when("W#1 seen");
  produce_how hasty;
  hasty.options.delivery_timeout = 1s;
  s.produce("A");
  s.produce("B", hasty);
  s.produce("C");
  s.right("B=N, A=D, C=D, log=W A C");
  EXPECT_GE(s.took("B"), 1s);
  EXPECT_LE(s.took("B"), 1100ms);
}

SCENARIO_TIMED(fault_dup, dup_02_recut_after_partial_expiry) {
  s.set().on_failure = failure_policy::skip;
  s.set().linger = 20ms;
  s.batches_of(4);
  s.broker("A1#1 +>cut");
  produce_how hasty;
  hasty.options.delivery_timeout = 2s;
  s.start();
  s.produce("A1 A2", hasty);
  s.produce("A3 A4");
  s.when("A1#1 stored");
  s.refuse(1);
  s.after(3s, [&s] { s.ok(1); });
  s.right("A1=U, A2=U, A3=D, A4=D, log=A1 A2 A3 A4");
  EXPECT_LE(s.took("A1"), 2100ms);
  EXPECT_TRUE(s.same_bytes("A1"));
}

// MEM

SCENARIO(fault_mem, mem_02_caller_reuses_buffer) {
  s.start();
  s.pause();
  s.produce("A B", cancellable);  // the stage's views end with the call
  s.cancel("A");
  s.resume();
  s.right("A=N, B=D, log=B");
}

TEST(fault_mem, mem_03_registrations_do_not_grow) {
  simulation world{simulation_options{}};
  world.cluster().create_topic("t");
  producer_config config;
  config.on_failure = failure_policy::skip;
  const auto producer = make_producer(world, config, {});
  std::stop_source source;
  std::size_t answered = 0;
  const std::string large(2'000'000, 'x');
  const auto growth = [&](std::string_view value, std::stop_token token) {
    const std::size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 5000; ++i) {
      partita::record what;
      what.topic = "t";
      what.partition = 0;
      what.value = value;
      produce_options options;
      options.cancellation = token;
      const std::size_t last = answered;
      producer->produce(what, options, [&](const outcome&) { ++answered; });
      world.time().run_until([&] { return answered > last; }, 1min);
    }
    return mallinfo2().uordblks - before;
  };
  for (const std::string_view value : {std::string_view(large), std::string_view("small")}) {
    growth(value, {});
    const std::size_t plain = growth(value, {});  // the simulated log grows
    EXPECT_LT(growth(value, source.get_token()), plain + 256 * 1024);
  }
  EXPECT_EQ(answered, 30'000U);
  source.request_stop();
  EXPECT_EQ(answered, 30'000U) << "nobody is registered any more";
}

}  // namespace
}  // namespace partita::testing
