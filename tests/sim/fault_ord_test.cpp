// ORD: records that overtake each other, and halts that come too late.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::testing {
namespace {

std::string numbered(int count) {
  std::string names;
  for (int i = 0; i < count; ++i) names += (i > 0 ? " r" : "r") + std::to_string(i);
  return names;
}

void without_idempotence(stage& s) {
  s.set().enable_idempotence = false;
  s.set().max_in_flight = 1;
}

SCENARIO(fault_ord, ord_01_failed_batch_stays_first_a) {
  without_idempotence(s);
  s.broker("A#1 ->6");
  s.produce("A B");
  // 6 may follow an append, so without numbers it is not sent again; B waits for recover.
  s.right("A=U");
  EXPECT_EQ(s.sends("B"), 0U);
  static_cast<void>(s.recover(recovery::discard));
  s.right("B=D, log=B");
}
SCENARIO(fault_ord, ord_01_failed_batch_stays_first_b) {
  without_idempotence(s);
  s.copies_allowed();
  s.broker("A#1 +>cut");
  s.produce("A B");
  s.right("A=U");
  EXPECT_EQ(s.sends("B"), 0U);
  static_cast<void>(s.recover(recovery::discard));
  s.right("B=D, log=A B|A A B");
}
SCENARIO_TIMED(fault_ord, ord_01_failed_batch_stays_first_c) {
  without_idempotence(s);
  s.start();
  s.refuse(1);
  s.produce("A B");
  s.run(200ms);
  s.ok(1);
  s.right("A=D, B=D, log=A B");
}

SCENARIO_TIMED(fault_ord, ord_02_old_leader_drains_first) {
  s.broker("A#1 +>ok@1s, B#1 +>ok@1s");
  s.produce("A B");
  s.when("A#1 stored");
  s.run(5ms);
  s.move(0, 2);
  s.produce("C");
  s.right("A=D, B=D, C=D, log=A B C");
}

SCENARIO_SEEDS(fault_ord, ord_03_defaults_keep_order, 10) {
  const producer_config defaults;
  s.set() = defaults;
  s.start();
  int cuts = 0;
  for (int i = 0; i < 1000; ++i) {
    s.produce("r" + std::to_string(i));
    if (s.draws().chance(0.3)) s.run(std::chrono::microseconds(s.draws().below(3000)));
    if (cuts < 20 && s.draws().chance(0.03)) {
      s.cut(1);
      ++cuts;
    }
  }
  s.await_all();
  s.right("r0=D, r999=D, log=" + numbered(1000));
}

SCENARIO(fault_ord, ord_04_outcomes_in_order) {
  std::vector<std::string> order;
  s.broker("A#1 ->19");
  s.produce("A", {.then = [&](const outcome&) { order.emplace_back("A"); }});
  s.produce("B", {.then = [&](const outcome&) { order.emplace_back("B"); }});
  s.right("A=D, B=D, log=A B");
  EXPECT_EQ(order, (std::vector<std::string>{"A", "B"}));
}

SCENARIO(fault_ord, ord_05_admission_is_fifo) {
  s.set().buffer_memory_bytes = 1200;
  s.set().batch_size_bytes = 1000;
  produce_how how;
  how.waits = true;
  how.padding = 400;
  s.produce(numbered(50), how);
  s.await_all();
  s.right("r0=D, r49=D, log=" + numbered(50));
}

SCENARIO(fault_ord, ord_06_followers_wait_for_head) {
  s.broker("A#1 ->19");
  s.produce("A B C");
  s.right("A=D, B=D, C=D, log=A B C");
  for (const char* each : {"A", "B", "C"}) EXPECT_TRUE(s.same_bytes(each)) << each;
  EXPECT_EQ(s.status().epoch_bumps, 0U);
}

SCENARIO_SEEDS(fault_ord, ord_07_frozen_brokers, 20) {
  s.late_frames_allowed();
  s.start();
  s.after(5s, [&s] {
    s.cluster().pause_broker(1);
    s.cluster().pause_broker(2);
  });
  s.after(20s, [&s] {
    s.cluster().resume_broker(1);
    s.cluster().resume_broker(2);
  });
  for (int i = 0; i < 400; ++i) {
    s.produce("r" + std::to_string(i));
    s.run(100ms);
  }
  s.await_all();
  bool failed_before = false;
  for (int i = 0; i < 400; ++i) {
    const std::string letter = s.letter("r" + std::to_string(i));
    if (failed_before) {
      EXPECT_NE(letter, "D") << "r" << i;
    }
    failed_before = failed_before || letter != "D";
  }
}

SCENARIO_SEEDS(fault_ord, ord_08_neighbours_unaffected, 3) {
  s.start();
  s.broker("S#n ->stuck");
  s.broker("F#1 ->10");
  // The worst time of a record of p1 and p2, in steps of 20 records a second.
  std::chrono::nanoseconds worst[2] = {0ns, 0ns};
  for (const int trouble : {0, 1}) {
    if (trouble == 1) {
      s.produce("S@p0");
      s.produce("F@p1");
      s.await("F");
      static_cast<void>(s.recover(recovery::discard, 1));
    }
    for (int i = 0; i < 600; ++i) {
      const std::string name = "r" + std::to_string(trouble * 600 + i);
      s.produce(name + "@p" + std::to_string(1 + i % 2));
      s.run(1ms);
    }
    for (int i = 0; i < 600; ++i)
      worst[trouble] = std::max(worst[trouble], s.took("r" + std::to_string(trouble * 600 + i)));
  }
  EXPECT_LT(worst[1], 2 * worst[0]);
}

SCENARIO(fault_ord, ord_09_ordered_hand_back) {
  s.set_cluster().topics["t"].replicas = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  s.broker("B#1 ->29");
  s.produce("A@p0 B@p1 C@p2 D@p1 E@p1 F@p1 G@p1 H@p1");
  s.right("A=D, B=N, C=D");
  EXPECT_EQ(s.status(1).state, partition_state::halted);  // before B's callback runs
  const recovery_report report = s.recover(recovery::take, 1);
  EXPECT_EQ(s.names_of(report.taken), "B D E F G H");
  for (const taken_record& each : report.taken) EXPECT_EQ(each.answer.fate, fate::not_written);
  EXPECT_TRUE(s.recover(recovery::take, 0).taken.empty());
  EXPECT_TRUE(s.recover(recovery::take, 2).taken.empty());
  s.right("log(p0)=A, log(p1)=, log(p2)=C");
}

SCENARIO(fault_ord, ord_16_try_produce_refused) {
  s.set().buffer_memory_bytes = 1100;
  s.set().batch_size_bytes = 1000;
  s.broker("W2#1 +>ok@20ms");
  s.produce("W2", {.padding = 600});
  const std::string value(600, 'x');
  partita::record a;
  a.topic = "t";
  a.partition = 0;
  a.value = value;
  const admission first = s.producer().try_produce(a, [](const outcome&) {
    ADD_FAILURE() << "a refusal is the return value of the call, never an outcome";
  });
  EXPECT_EQ(first, admission::full);
  s.await("W2");
  s.produce("B", {.padding = 600, .waits = true});
  s.right("W2=D, B=D, log=W2 B");
}

// Member calls in random order; their effects are those of the order given.
SCENARIO_SEEDS(fault_ord, ord_14_one_order_of_commands, 1000) {
  s.start();
  bool paused = false;
  int next = 0;
  std::vector<int> held;
  for (int step = 0; step < 25; ++step) {
    const std::uint64_t what = s.draws().below(6);
    if (what == 0 && !paused) {
      s.pause();
      paused = true;
    } else if (what == 1 && paused) {
      for (const int each : held) EXPECT_EQ(s.sends("r" + std::to_string(each)), 0U);
      held.clear();
      s.resume();
      paused = false;
    } else if (what == 2 && !paused) {
      const int last = next - 1;
      const operation<tally> flushed = s.producer().flush();
      s.produce("r" + std::to_string(next++));
      EXPECT_TRUE(s.until([&] { return flushed.done(); }));
      if (last >= 0) {
        EXPECT_TRUE(s.answered("r" + std::to_string(last)));
      }
    } else {
      if (paused) held.push_back(next);
      s.produce("r" + std::to_string(next++));
    }
    if (s.draws().chance(0.3)) s.run(std::chrono::microseconds(s.draws().below(900)));
  }
  if (paused) s.resume();
  s.await_all();
  s.right("log=" + numbered(next));
}

SCENARIO_SEEDS(fault_ord, ord_15_produce_from_completion_goes_first, 2000) {
  std::string behind;
  s.produce("A", {.then = [&](const outcome&) { s.produce("A2"); }});
  int next = 0;
  while (!s.answered("A") && next < 200) {
    s.produce("B" + std::to_string(next++));
    s.run(std::chrono::microseconds(s.draws().below(120)));
  }
  for (int i = 0; i < 5; ++i) {
    const std::string name = "C" + std::to_string(i);
    s.produce(name);
    behind += " " + name;
  }
  s.await_all();
  const std::string log = s.log();
  EXPECT_NE(log.find(" A2 "), std::string::npos) << log;
  EXPECT_LT(log.find(" A2 "), log.find(" C0")) << log;
  EXPECT_TRUE(log.ends_with(behind)) << log;
}

// A callback of another partition holds up the lane for 1.5 s. The refusal of A has arrived by
// then, and the record that another thread hands over meanwhile must not pass it.
SCENARIO_TIMED(fault_ord, ord_17_busy_callback_elsewhere) {
  s.broker("A#1 ->29, X#1 +>ok@5ms");
  s.produce("A");
  s.produce("X@p1", {.then = [&](const outcome&) {
              s.world().time().sleep(1500ms);
              s.produce("B");
            }});
  s.right("X=D, A=N, B=N, log=");
  EXPECT_EQ(s.code("B"), client_errc::halted);
}

}  // namespace
}  // namespace partita::testing
