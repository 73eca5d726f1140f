// HANG: what stands still, or runs in circles.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

std::string nth(int i) { return "r" + std::to_string(i); }

SCENARIO_TIMED(fault_hang, hang_01_wake_by_capacity) {
  s.set().buffer_memory_bytes = 1400;
  s.set().batch_size_bytes = 1400;
  produce_how large{.padding = 900, .waits = true};
  produce_how small{.padding = 300, .waits = true};
  s.broker("A#1 +>ok@20ms");
  s.produce("A", large);
  s.produce("B@p1", small);
  s.produce("C@p1", small);
  s.right("A=D, B=D, C=D, log=A, log(p1)=B C");
  // Both went in by the room that A gave back, at once.
  EXPECT_LT(s.attempts("C").front().at - s.attempts("B").front().at, 3ms);
}

SCENARIO_SEEDS(fault_hang, hang_03_many_waiters, 20) {
  s.set().buffer_memory_bytes = 2600;
  s.set().batch_size_bytes = 2600;
  int next = 0;
  std::function<void(const outcome&)> again = [&](const outcome&) {
    if (next < 800) s.produce(nth(next++), {.padding = 400, .waits = true, .then = again});
  };
  for (int i = 0; i < 80; ++i)
    s.produce(nth(next++), {.padding = 400, .waits = true, .then = again});
  EXPECT_TRUE(s.until([&] { return next >= 800; }));
  s.await_all();
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < 800; ++i) {
    EXPECT_EQ(s.letter(nth(i)), "D") << i;
    longest = std::max(longest, s.took(nth(i)));
  }
  // Eighty in line, about five at a time, a round trip of at most two milliseconds each.
  EXPECT_LE(longest, 200ms);
}

SCENARIO(fault_hang, hang_04_produce_from_completion_when_full) {
  s.set().buffer_memory_bytes = 1400;
  s.set().batch_size_bytes = 1400;
  std::atomic<int> next{0};
  std::function<void(const outcome&)> more = [&](const outcome&) {
    if (next >= 40) return;
    static const std::string value(600, 'x');
    partita::record other;
    other.topic = "t";
    other.partition = 1;
    other.value = value;
    static_cast<void>(next % 2 == 0);
    s.produce(nth(next++), {.padding = 600, .waits = true, .then = more});
  };
  s.produce(nth(next++), {.padding = 600, .waits = true, .then = more});
  s.produce(nth(next++), {.padding = 600, .waits = true, .then = more});
  EXPECT_TRUE(s.until([&] { return next >= 40; }));
  s.await_all();
  for (int i = 0; i < next; ++i) EXPECT_EQ(s.letter(nth(i)), "D") << i;
}

SCENARIO_SEEDS(fault_hang, hang_05_nobody_reads_outcomes, 1) {
  s.start();
  s.hold_outcomes();
  for (int i = 0; i < 3000; ++i) {
    s.produce(nth(3 * i) + "@p0", {.waits = true});
    s.produce(nth(3 * i + 1) + "@p1");
    s.produce(nth(3 * i + 2) + "@p2");
    s.run(1ms);
  }
  EXPECT_TRUE(s.until([&] { return s.answered(nth(8998)) && s.answered(nth(8999)); }, 1s));
  for (int i = 0; i < 3000; i += 100) EXPECT_LT(s.took(nth(3 * i + 1)), 50ms);
  s.release_outcomes();
  s.await_all();
}

SCENARIO_SEEDS(fault_hang, hang_06_brokers_in_rotation, 5) {
  s.late_frames_allowed();
  s.start();
  const auto answer_halts = [&s] {
    for (const partition_status& each : s.whole_status().partitions)
      if (each.state == partition_state::halted)
        static_cast<void>(s.recover(recovery::discard, each.partition));
  };
  int next = 0;
  for (int round = 0; round < 10; ++round)
    for (int broker = 1; broker <= 3; ++broker) {
      s.cluster().stop_broker(broker);
      for (int i = 0; i < 60; ++i) {
        s.produce(nth(next) + "@p" + std::to_string(next % 3));
        ++next;
        s.run(50ms);
        if (i % 20 == 0) answer_halts();
      }
      s.cluster().start_broker(broker);
      const std::string probe = "probe" + std::to_string(next);
      s.run(200ms);
      answer_halts();
      s.produce(probe);
      s.await(probe);
      EXPECT_LE(s.took(probe), 1s) << "round " << round;
    }
  s.await_all();
}

SCENARIO_SEEDS(fault_hang, hang_07_random_cuts, 20) {
  s.set().delivery_timeout = 6s;
  s.set().connection_setup_timeout = 1s;  // a link that heals does not revive an attempt to connect
  s.set().connection_setup_timeout_max = 2s;
  s.set().on_failure = failure_policy::skip;
  s.late_frames_allowed();
  s.start();
  for (int i = 0; i < 600; ++i) {
    s.produce(nth(i) + "@p" + std::to_string(i % 3));
    const auto broker = static_cast<std::int32_t>(1 + s.draws().below(3));
    switch (s.draws().below(12)) {
      case 0:
        s.cut(broker);
        break;
      case 1:
        s.silent(broker);
        break;
      case 2:
        s.refuse(broker);
        break;
      case 3:
        static_cast<void>(s.cluster().move_leader("t", i % 3, broker));
        break;
      case 4:
      case 5:
      case 6:
        s.ok(broker);
        break;
      default:
        break;
    }
    s.run(std::chrono::milliseconds(s.draws().below(2000)));
  }
  for (int broker = 3; broker >= 1; --broker) s.ok(broker);
  s.await_all();
  s.produce("last0@p0 last1@p1 last2@p2");
  s.right("last0=D, last1=D, last2=D");
}

SCENARIO_SEEDS(fault_hang, hang_08_flapping_connection, 5) {
  s.set_links().latency_min = 5ms;
  s.set_links().latency_max = 5ms;
  s.start();
  const std::uint64_t before = s.cluster().counters().connections;
  for (int i = 0; i < 1200; ++i) s.after(i * 50ms, [&s] { s.cut(1); });
  for (int i = 0; i < 6000; ++i) {
    s.produce(nth(i));
    s.run(10ms);
  }
  s.await_all();
  int delivered = 0;
  for (int i = 0; i < 6000; ++i) delivered += s.letter(nth(i)) == "D" ? 1 : 0;
  EXPECT_GT(delivered, 0);
  EXPECT_LE(s.cluster().counters().connections - before, 20U * 60U * 2U);
}

SCENARIO_SEEDS(fault_hang, hang_09_full_then_broker_returns, 5) {
  s.set().buffer_memory_bytes = 20'000;
  s.set().batch_size_bytes = 2'000;
  s.set().delivery_timeout = 5min;
  s.set().max_block = 5min;
  s.start();
  s.refuse_all();
  for (int i = 0; i < 60; ++i) s.produce(nth(i), {.padding = 400, .waits = true});
  s.run(60s);
  s.ok_all();
  s.await_all();
  std::string all;
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(s.letter(nth(i)), "D") << i;
    all += (i > 0 ? " " : "") + nth(i);
  }
  s.right("log=" + all);
}

SCENARIO_TIMED(fault_hang, hang_10_retries_follow_the_partition) {
  s.cluster().deny(right::read, "t");  // or the new leader's log would tell
  s.broker("A#1 +>cut");
  s.produce("A");
  s.when("A#1 stored");
  s.refuse(1);
  s.run(2s);
  s.move(0, 2);
  const auto moved = s.now();
  s.right("A=D, log=A");
  EXPECT_EQ(s.attempts("A").back().broker, 2);
  EXPECT_LE(s.attempts("A").back().at - moved, 2s);
}

SCENARIO(fault_hang, hang_11_accounts_return_to_zero) {
  s.set_cluster().auto_create_topics = false;
  s.set().max_block = 1s;
  s.set().topic_metadata_propagation_max = 500ms;
  s.set().on_failure = failure_policy::skip;
  s.start();
  s.broker("R#1 ->87");
  s.produce("P@p77 A R");
  s.produce("L", {.padding = 2'000'000});
  s.produce("H", {.headers = {{"\xc3\x28", "v"}}});
  s.produce("U", {.topic = "nowhere"});
  s.produce("B");
  s.right("P=N, A=D, R=N, L=N, H=N, U=N, B=D");
  EXPECT_EQ(s.flush().total(), 0U);
  EXPECT_EQ(s.whole_status().buffered_bytes, 0U);
}

SCENARIO_SEEDS(fault_hang, hang_12_topic_learned_meanwhile, 300) {
  s.cold();
  std::string all;
  for (int i = 0; i < 100; ++i) {
    s.produce(nth(i));
    all += (i > 0 ? " " : "") + nth(i);
    if (s.draws().chance(0.4)) s.run(std::chrono::microseconds(s.draws().below(200)));
  }
  s.await_all();
  s.right("log=" + all);
}

// Requests and events of the simulation during a minute in which nothing can be sent.
void hang_13(stage& s, const std::function<void()>& trouble) {
  s.set().delivery_timeout = 2min;
  s.start();
  trouble();
  s.produce("A B@p1 C@p2");
  s.run(1s);
  const cluster_counters before = s.cluster().counters();
  const std::uint64_t events = s.world().time().events_run();
  s.run(60s);
  const cluster_counters after = s.cluster().counters();
  EXPECT_LE(after.requests - before.requests, 60U * 3U * 20U);
  EXPECT_LE(after.connections - before.connections, 60U * 3U * 20U);
  EXPECT_LE(s.world().time().events_run() - events, 60U * 3U * 200U);
  s.ok_all();
  s.rule();
  s.await_all();
}
SCENARIO_TIMED(fault_hang, hang_13_no_busy_loop_refused) {
  hang_13(s, [&] { s.refuse_all(); });
}
SCENARIO_TIMED(fault_hang, hang_13_no_busy_loop_silent) {
  s.late_frames_allowed();
  hang_13(s, [&] {
    for (int b = 1; b <= 3; ++b) s.silent(b);
  });
}
SCENARIO_TIMED(fault_hang, hang_13_no_busy_loop_always_6) {
  hang_13(s, [&] { s.broker("A#n ->6, B#n ->6, C#n ->6"); });
}
SCENARIO_TIMED(fault_hang, hang_13_no_busy_loop_old_metadata) {
  s.set().metadata_max_age = 5s;
  s.late_frames_allowed();
  hang_13(s, [&] {
    for (int b = 1; b <= 3; ++b) s.silent(b);
  });
}

SCENARIO_SEEDS(fault_hang, hang_14_backoff_saturates, 20) {
  s.set().delivery_timeout = 5min;
  s.broker("A#n ->19");
  s.produce("A");
  s.run(4min);
  s.rule();
  s.right("A=D");
  const auto all = s.attempts("A");
  EXPECT_GT(all.size(), 200U);
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    const auto pause = all[i].at - all[i - 1].at;
    const auto wanted = std::min<std::chrono::nanoseconds>(
        100ms * (std::int64_t{1} << std::min<std::size_t>(i - 1, 10)), 1s);
    EXPECT_GE(pause, wanted * 8 / 10) << i;
    EXPECT_LE(pause, wanted * 12 / 10 + 5ms) << i;
  }
}

SCENARIO_SEEDS(fault_hang, hang_15_min_isr_outage, 5) {
  s.set().delivery_timeout = 5min;
  s.start();
  const partition_status before = s.status();
  s.cluster().limit_in_sync("t", 0, 1);
  std::string all;
  for (int i = 0; i < 180; ++i) {
    s.produce(nth(i));
    all += (i > 0 ? " " : "") + nth(i);
    s.run(1s);
  }
  s.cluster().limit_in_sync("t", 0, 3);
  EXPECT_TRUE(s.until([&] { return s.answered("r0"); }, 1200ms));
  s.await_all();
  s.right("r0=D, log=" + all);
  EXPECT_EQ(s.status().producer_epoch, before.producer_epoch);
}

SCENARIO_TIMED(fault_hang, hang_16_slow_handler_isolated) {
  s.start();
  s.hold_outcomes();
  s.after(10s, [&s] { s.release_outcomes(); });
  for (int i = 0; i < 100; ++i) {
    s.produce(nth(2 * i) + "@p0", {.waits = true});
    s.produce(nth(2 * i + 1) + "@p1");
    s.run(20ms);
  }
  s.await_all();
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(s.took(nth(2 * i + 1)), 10ms);
    EXPECT_EQ(s.letter(nth(2 * i)), "D");
  }
}

SCENARIO_TIMED(fault_hang, hang_18_one_byte_per_second) {
  s.late_frames_allowed();
  s.start();
  link_fault slow;
  slow.bytes_per_second = 1;
  s.world().set_link_fault(1, slow);
  s.produce("A");
  for (int i = 0; i < 20; ++i) {
    s.produce(nth(i) + "@p" + std::to_string(1 + i % 2));
    s.run(100ms);
  }
  s.right("A=U|N");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(s.letter(nth(i)), "D");
    EXPECT_LE(s.took(nth(i)), 100ms);
  }
}

}  // namespace
}  // namespace partita::testing
