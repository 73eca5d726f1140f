// MEM: memory, lifetime, callbacks.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

std::string nth(int i) { return "r" + std::to_string(i); }

/// Bytes that malloc has given out.
std::size_t in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool malloc_is_ours = false;  // a sanitizer's allocator tells nothing here
#else
constexpr bool malloc_is_ours = true;
#endif

// The memory of A's half-written batch goes to others while the rest of it could still be written.
SCENARIO_TIMED(fault_mem, mem_01_expired_batch_bytes) {
  s.set_cluster().topics["u"].partitions = 1;
  s.set_cluster().topics["u"].replicas = {{2, 3, 1}};
  s.set().on_failure = failure_policy::skip;
  s.set().delivery_timeout = 2s;
  s.produce("U", {.topic = "u"});
  s.await("U");
  s.world().set_link_fault(1, {.stall_after = 3'000});
  s.produce("A", {.padding = 6'000});
  s.right("A=N");
  for (int i = 0; i < 40; ++i) s.produce(nth(i) + "@p0", {.padding = 6'000, .topic = "u"});
  s.await_all();
  s.ok(1);
  s.run(3s);
  s.produce("B");
  s.right("B=D, log=B");
  for (int i = 0; i < 40; ++i) EXPECT_EQ(s.letter(nth(i)), "D");
}

void mem_04(stage& s, std::size_t value_bytes, bool tombstone, int headers) {
  s.set().buffer_memory_bytes = 10 << 20;
  s.set().batch_records_max = 10'000;
  s.set().delivery_timeout = 1h;
  s.start();
  s.refuse_all();
  const std::string value(value_bytes, 'v');
  const std::vector<header> set(static_cast<std::size_t>(headers), header{"header-key", "value"});
  partita::record one;
  one.topic = "t";
  one.key = "key";
  if (!tombstone) one.value = value;
  one.headers = set;
  std::uint64_t refused = 0;
  std::uint64_t answered = 0;
  const std::size_t before = in_use();
  std::size_t most = 0;
  for (int i = 0; refused < 1000 && i < 2'000'000; ++i) {
    one.partition = i % 3;
    if (s.producer().try_produce(one, [&answered](const outcome&) { ++answered; }) !=
        admission::accepted)
      ++refused;
    if (i % 1000 == 0) {
      s.run(1ms);
      most = std::max(most, in_use());
    }
  }
  EXPECT_EQ(refused, 1000U) << "nothing pushes back";
  most = std::max(most, in_use());
  if (malloc_is_ours) {
    EXPECT_LE(most - std::min(before, most), (10U << 20) + (8U << 20));
  }
  s.destroy();
  s.log_may_differ();
}
SCENARIO_SEEDS(fault_mem, mem_04_budget_is_the_whole_a, 1) { mem_04(s, 10, false, 0); }
SCENARIO_SEEDS(fault_mem, mem_04_budget_is_the_whole_b, 1) { mem_04(s, 0, true, 0); }
SCENARIO_SEEDS(fault_mem, mem_04_budget_is_the_whole_c, 1) { mem_04(s, 10, false, 100); }
SCENARIO_SEEDS(fault_mem, mem_04_budget_is_the_whole_d, 1) { mem_04(s, 1'000'000, false, 0); }

SCENARIO_SEEDS(fault_mem, mem_05_failing_spin_is_bounded, 1) {
  s.broker("A#1 ->87");
  s.produce("A");
  s.right("A=N");
  const std::string small(100, 'x');
  const std::string large(2'000'000, 'x');
  partita::record one;
  one.topic = "t";
  one.partition = 0;
  std::uint64_t answered = 0;
  std::size_t early = 0;
  std::size_t late = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    one.value = i % 2 == 0 ? std::string_view(small) : std::string_view(large);
    s.producer().produce(one, [&answered](const outcome& answer) {
      ++answered;
      EXPECT_FALSE(answer.is_delivered());
    });
    if (i % 500 == 0) s.run(1ms);
    if (i == 100'000) early = in_use();
    if (i == 999'999) late = in_use();
  }
  EXPECT_TRUE(s.until([&] { return answered == 1'000'000; }));
  if (malloc_is_ours) {
    EXPECT_LE(late, early + (4U << 20));
  }
}

SCENARIO(fault_mem, mem_06_handlers_outlive_scope) {
  std::weak_ptr<int> watched;
  {
    const auto held = std::make_shared<int>(7);
    watched = held;
    s.broker("A#1 +>ok@20ms");
    s.produce("A", {.then = [held](const outcome&) { EXPECT_EQ(*held, 7); }});
  }
  EXPECT_FALSE(watched.expired()) << "the library owns the handler until it was called";
  s.right("A=D");
}

SCENARIO_TIMED(fault_mem, mem_07_executor_gone) {
  s.broker("A#1 +>ok@1s");
  s.start();
  s.hold_outcomes();
  s.produce("A@p0", {.waits = true});
  s.produce("B@p1");
  s.run(500ms);
  s.right("B=D");
  s.destroy();
  // The executor goes on after the producer: A has its answer all the same.
  EXPECT_EQ(s.letter("A"), "open");
  s.release_outcomes();
  s.right("A=U");
}

SCENARIO(fault_mem, mem_08_hooks_reenter) {
  s.set().on_failure = failure_policy::halt_partition;
  std::atomic<int> ended{0};
  s.broker("A#1 ->87");
  const auto everything = [&](const outcome&) {
    s.producer().flush().then([&](const tally&) { ++ended; });
    s.producer().recover("t", 0, recovery::discard).then([&](const recovery_report&) { ++ended; });
    s.producer().status().then([&](const producer_status&) { ++ended; });
    s.producer().pause("t", 2).then([&](bool) { ++ended; });
    s.producer().resume("t", 2).then([&](bool) { ++ended; });
  };
  s.produce("A", {.then = everything});
  s.right("A=N");
  s.produce("B@p1", {.then = everything});
  s.right("B=D");
  EXPECT_TRUE(s.until([&] { return ended == 10; }));
  s.produce("C", {.then = [&](const outcome&) {
              s.producer().close(1s).then([&](const close_report&) { ++ended; });
            }});
  EXPECT_TRUE(s.until([&] { return ended == 11; }));
}

SCENARIO(fault_mem, mem_09_hooks_throw_or_block) {
  for (int i = 0; i < 20; ++i)
    s.produce(nth(i) + "@p" + std::to_string(i % 3),
              {.then = [](const outcome&) { throw std::runtime_error("from a hook"); }});
  s.await_all();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(s.letter(nth(i)), "D");
  EXPECT_EQ(s.whole_status().callback_exceptions, 20U);
}

SCENARIO(fault_mem, mem_10_ownership_on_refusal) {
  s.set_cluster().auto_create_topics = false;
  s.set().topic_metadata_propagation_max = 200ms;
  s.set().max_block = 200ms;
  s.set().on_failure = failure_policy::skip;
  const std::vector<std::string> values = {std::string(2'000'000, 'l'), std::string(6000, 'b'),
                                           "small"};
  std::atomic<int> answers{0};
  const auto count = [&](const outcome& answer) {
    EXPECT_FALSE(answer.is_delivered());
    ++answers;
  };
  int asked = 0;
  for (const std::string& value : values) {
    const std::vector<header> good = {{"h", std::string_view(value).substr(0, 3)}};
    const std::vector<header> bad = {{"\xc3\x28", "v"}};
    partita::record one;
    one.topic = "t";
    one.value = value;
    one.headers = bad;
    s.producer().produce(one, count), ++asked;
    one.headers = good;
    one.partition = 99;
    s.producer().produce(one, count), ++asked;
    one.partition = -7;
    s.producer().produce(one, count), ++asked;
    one.partition = 0;
    one.timestamp = timestamp{std::chrono::milliseconds(-1)};
    s.producer().produce(one, count), ++asked;
    one.timestamp.reset();
    one.topic = "not a topic";
    s.producer().produce(one, count), ++asked;
    one.topic = "nowhere";
    s.producer().produce(one, count), ++asked;
  }
  EXPECT_TRUE(s.until([&] { return answers == asked; })) << answers << " of " << asked;
  EXPECT_EQ(s.whole_status().buffered_bytes, 0U);
}

SCENARIO_SEEDS(fault_mem, mem_12_moves_under_retry, 20) {
  s.late_frames_allowed();
  s.set().on_failure = failure_policy::skip;
  s.start();
  for (int i = 0; i < 100; ++i)
    s.after(i * 50ms, [&s, i] {
      for (std::int32_t p = 0; p < 3; ++p)
        static_cast<void>(s.cluster().move_leader("t", p, 1 + (i + p) % 3));
    });
  for (int i = 0; i < 600; ++i) {
    if (i % 2 == 0) s.broker(nth(i) + (i % 4 == 0 ? "#1 ->6" : "#1 ->19"));
    s.produce(nth(i) + "@p" + std::to_string(i % 3));
    s.run(8ms);
  }
  s.await_all();
  int delivered = 0;
  for (int i = 0; i < 600; ++i) delivered += s.letter(nth(i)) == "D" ? 1 : 0;
  EXPECT_GT(delivered, 550);
}

/// In the child of the fork: what is not as it has to be, 0 if nothing.
int use_in_child(std::unique_ptr<producer> inherited) {
  partita::record one;
  one.topic = "t";
  one.partition = 0;
  one.value = "child";
  int answers = 0;
  bool refused = true;
  const auto count = [&](const outcome& answer) {
    ++answers;
    refused = refused && answer.failure() != nullptr &&
              answer.failure()->fate == fate::not_written &&
              answer.failure()->code == client_errc::closed &&
              answer.failure()->cause == std::errc::owner_dead;
  };
  inherited->produce(one, count);
  if (answers != 1 || !refused) return 1;
  if (inherited->try_produce(one, count) != admission::closed) return 2;
  for (const outcome& each : inherited->produce_batch(std::vector{one, one}).get()) count(each);
  if (answers != 3 || !refused) return 3;
  if (inherited->flush().get() != tally{}) return 4;
  if (inherited->recover("t", 0, recovery::discard).get().was_halted) return 5;
  if (inherited->status().get().partitions.size() != 0) return 6;
  event_stream events = inherited->events();
  auto next = events.next();
  if (!next.done() || std::move(next).get()) return 7;
  if (inherited->cancel(record_handle::make())) return 8;
  static_cast<void>(inherited->close(std::chrono::seconds(1)).get());
  inherited.reset();
  return 0;
}

TEST(fault_mem, mem_11_fork) {
  cluster_options brokers;
  brokers.topics["t"].partitions = 1;
  loopback_cluster cluster(brokers);
  ASSERT_FALSE(cluster.listening());
  producer_config config;
  config.bootstrap_servers = cluster.bootstrap();
  auto used = std::make_unique<producer>(config);
  partita::record one;
  one.topic = "t";
  one.partition = 0;
  one.value = "parent";
  std::atomic<int> delivered{0};
  const auto produce = [&] {
    used->produce(one, [&](const outcome& answer) { delivered += answer.is_delivered() ? 1 : 0; });
  };
  for (int i = 0; i < 100; ++i) produce();
  EXPECT_EQ(used->flush().get(), (tally{100, 0, 0}));
  for (int i = 0; i < 100; ++i) produce();  // some are under way while the process forks
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(use_in_child(std::move(used)));
  for (int i = 0; i < 100; ++i) produce();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(used->flush().get().not_written, 0U);
  EXPECT_EQ(delivered, 300);
  const auto log = cluster.log("t", 0);
  EXPECT_EQ(log.size(), 300U);
  for (const log_record& each : log) EXPECT_EQ(each.value, "parent");
}

std::size_t threads() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    static_cast<void>(each);
    ++count;
  }
  return count;
}

TEST(fault_mem, mem_13_threads_do_not_grow_ten_producers) {
  cluster_options brokers;
  brokers.brokers = 12;
  brokers.topics["t"].partitions = 100;
  loopback_cluster cluster(brokers);
  ASSERT_FALSE(cluster.listening());
  producer_config config;
  config.bootstrap_servers = cluster.bootstrap();
  const std::size_t before = threads();
  std::vector<std::unique_ptr<producer>> all;
  for (int i = 0; i < 10; ++i) all.push_back(std::make_unique<producer>(config));
  for (const auto& each : all) {
    for (int p = 0; p < 100; ++p) {
      partita::record one;
      one.topic = "t";
      one.partition = p;
      one.value = "v";
      each->produce(one, [](const outcome&) {});
    }
    EXPECT_EQ(each->flush().get(), (tally{100, 0, 0}));
  }
  EXPECT_EQ(threads(), before + 10) << "one lane each, whatever the brokers and partitions";
}

SCENARIO_SEEDS(fault_mem, mem_13_threads_do_not_grow_idle_partitions, 1) {
  s.set_cluster().topics["wide"].partitions = 10'000;
  s.start();
  const std::size_t before = in_use();
  s.produce("A@p0", {.topic = "wide"});
  s.right("A=D");
  s.run(1s);
  if (malloc_is_ours) {
    EXPECT_LE(in_use() - std::min(before, in_use()), 10'000U * 4096U);
  }
}

}  // namespace
}  // namespace partita::testing
