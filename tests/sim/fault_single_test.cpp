// Rows in which one record has limits of its own, or is cancelled, among others.
#include "tests/sim/stage.hpp"

#include <partita/ack_watermark.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace partita::testing {
namespace {

produce_how within(std::chrono::milliseconds limit) {
  produce_how how;
  how.options.delivery_timeout = limit;
  return how;
}

SCENARIO_TIMED(fault_dup, dup_07_expiry_does_not_renumber) {
  s.broker("A#1 +>7, B#1 +>mute, C#1 +>mute, A#n ->19");
  s.start();
  s.after(3s, [&s] { s.rule(); });
  s.produce("A", within(2s));
  s.produce("B C");
  s.await("A");
  s.run(2s);
  static_cast<void>(s.recover(recovery::discard));
  s.right("A=U|D, B=U|D, C=U|D, log=A B C");
  for (const char* each : {"B", "C"}) EXPECT_TRUE(s.same_bytes(each)) << each;
}

// Its refusal takes its turn, and the turn may not come in time.
SCENARIO_TIMED(fault_time, time_01_refused_before_the_topic_is_known) {
  s.cold();
  s.set().max_block = 60s;
  s.set().batch_size_bytes = 1000;
  s.set().max_request_size_bytes = 1000;
  s.refuse_all();
  produce_how large = within(2s);
  large.padding = 2000;
  s.produce("A", large);
  s.until([&] { return s.answered("A"); });
  EXPECT_LE(s.took("A"), 2100ms);
  s.right("A=N");
}

SCENARIO_TIMED(fault_ord, ord_10_recover_before_settled) {
  s.set().request_timeout = 5s;
  s.broker("A#1 +>mute late=3s");
  s.produce("A", within(1s));
  s.right("A=U");
  EXPECT_LE(s.took("A"), 1100ms);
  static_cast<void>(s.recover(recovery::discard));
  s.produce("B");
  s.right("B=D");
  s.run(5s);
  s.right("log=A B|B");
}

SCENARIO_TIMED(fault_time, time_03_cancel_before_topic_or_id_b) {
  s.cold();
  api_fault mute;
  mute.api = api::init_producer_id;
  mute.reply = reply::never;
  mute.times = always;
  s.cluster().inject(mute);
  s.produce("A", {.cancellable = true});
  s.produce("B");
  s.run(100ms);
  const auto cancelled = s.now();
  s.cancel("A");
  s.right("A=N");
  EXPECT_LE(s.now() - cancelled, 100ms);
  EXPECT_EQ(s.letter("B"), "open");
  s.cluster().clear_faults();
  s.right("B=D, log=B");
}

// Room and the stop of a waiter come in one instant.
SCENARIO_SEEDS(fault_hang, hang_02_cancel_meets_capacity, 300) {
  s.set().buffer_memory_bytes = 1400;
  s.set().batch_size_bytes = 1400;
  s.broker("F#1 +>ok@5ms");
  s.produce("F", {.padding = 900});
  const int waiters = 30;
  for (int i = 0; i < waiters; ++i)
    s.produce("r" + std::to_string(i), {.padding = 600, .waits = true, .cancellable = true});
  std::set<int> stopped;
  s.on_answer("F", [&](const outcome&) {
    for (int i = 0; i < waiters; ++i)
      if (s.draws().chance(0.5)) {
        s.cancel("r" + std::to_string(i));
        stopped.insert(i);
      }
  });
  s.run(std::chrono::microseconds(s.draws().below(9000)));
  for (int i = 0; i < waiters; ++i)
    if (!s.answered("r" + std::to_string(i)) && s.draws().chance(0.3)) {
      s.cancel("r" + std::to_string(i));
      stopped.insert(i);
    }
  s.await_all();
  for (int i = 0; i < waiters; ++i) {
    const std::string name = "r" + std::to_string(i);
    if (!stopped.contains(i)) {
      EXPECT_EQ(s.letter(name), "D") << name;
    } else if (s.letter(name) != "D") {
      EXPECT_EQ(s.code(name), client_errc::cancelled) << name;
    }
  }
}

SCENARIO(fault_odd, odd_07_timeout_not_stored_b) {
  s.broker("A#1 ->7");
  s.produce("A", {.cancellable = true});
  s.when("A#1 answered");
  s.cancel("A");
  s.produce("B");
  s.right("B=D, A=D|U, log=B|A B");
}

SCENARIO_TIMED(fault_lie, lie_14_same_error_both_ways) {
  s.cold();
  metadata_lie leaderless;
  leaderless.topic = "t";
  leaderless.partition = 1;
  leaderless.leader = broker_id{};
  s.cluster().inject(leaderless);
  s.broker("A#1 +>mute");
  s.produce("A@p0 B@p1", {.cancellable = true});
  s.when("A#1 stored");
  s.cancel("A B");
  s.right("A=U, B=N");
  EXPECT_NE(s.failure("A").ticket.value, 0U);
  EXPECT_EQ(s.failure("B").ticket.value, 0U);
}

// A source of a hundred positions over two partitions, one of which falls silent; the program dies
// and starts again where its stored position says.
SCENARIO_SEEDS(fault_cli, cli_01_watermark, 20) {
  s.set().on_failure = failure_policy::skip;
  s.copies_allowed();
  s.start();
  ack_watermark marks(1);
  for (int position = 1; position <= 100; ++position) {
    const std::string name = "n" + std::to_string(position);
    const int partition = position % 2;
    if (partition == 0 && position > 40) s.broker(name + "#n ->stuck");
    ASSERT_TRUE(marks.begin(position));
    s.produce(
        name + "@p" + std::to_string(partition),
        {.then = [&marks, position](const outcome& answer) { marks.note(position, answer); }});
    if (s.draws().chance(0.2)) s.run(1ms);
    for (int before = 1; before < marks.watermark(); ++before)
      ASSERT_EQ(s.letter("n" + std::to_string(before)), "D") << "passed an open record";
  }
  s.run(500ms);
  const std::int64_t stored = marks.watermark();
  EXPECT_LE(stored, 42);
  s.destroy();
  s.rule();
  const auto again = make_producer(s.world(), {}, {1, 77});
  int answers = 0;
  for (std::int64_t position = stored; position <= 100; ++position) {
    partita::record one;
    const std::string& value = *s.record("n" + std::to_string(position)).noted.record.value;
    one.topic = "t";
    one.partition = static_cast<std::int32_t>(position % 2);
    one.key = "k";
    one.value = value;
    again->produce(one, [&answers](const outcome& answer) {
      EXPECT_TRUE(answer.is_delivered());
      ++answers;
    });
  }
  EXPECT_TRUE(s.until([&] { return answers == 101 - stored; }));
  std::set<std::string> found;
  for (const int p : {0, 1})
    for (const log_record& each : s.cluster().log("t", p))
      found.insert(each.value->substr(0, each.value->find('@')));
  for (int position = 1; position <= 100; ++position)
    EXPECT_TRUE(found.contains("n" + std::to_string(position))) << position;
  s.log_may_differ();  // the second producer wrote copies
}

}  // namespace
}  // namespace partita::testing
