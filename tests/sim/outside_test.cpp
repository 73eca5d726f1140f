// Situations that the public test suites of other clients go through on the producer's side, as far
// as no row of the catalogue has them. The number in a name is that of librdkafka's test.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace partita::testing {
namespace {

std::string nth(int i) { return "r" + std::to_string(i); }

TEST(outside_catalogue, o_0001_many_clients_one_after_the_other) {
  simulation_options setup;
  setup.cluster.topics["t"].partitions = 3;
  simulation world(setup);
  for (int i = 0; i < 100; ++i) {
    const auto one = make_producer(world, {}, {1, static_cast<std::uint64_t>(i)});
    int answers = 0;
    for (int p = 0; p < 3; ++p) {
      partita::record record;
      record.topic = "t";
      record.partition = p;
      record.value = "v";
      one->produce(record, [&answers](const outcome& answer) {
        EXPECT_TRUE(answer.is_delivered());
        ++answers;
      });
    }
    EXPECT_TRUE(world.time().run_until([&] { return answers == 3; }, 10s)) << i;
  }
}

SCENARIO(outside_catalogue, o_0008_one_acknowledgement) {
  s.set().acks = acks::leader;
  s.set().enable_idempotence = false;
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
}

SCENARIO(outside_catalogue, o_0028_topic_names) {
  s.set().on_failure = failure_policy::skip;
  int next = 0;
  for (const std::string& name : {std::string(250, 'n'), std::string("a topic"), std::string("a/b"),
                                  std::string("."), std::string("..")}) {
    s.produce(nth(next), {.topic = name});
    s.right(nth(next) + "=N");
    EXPECT_EQ(s.code(nth(next)), client_errc::invalid_topic) << name;
    ++next;
  }
}

void append_time(stage& s, compression codec) {
  s.set_cluster().topics["t"].settings["message.timestamp.type"] = "LogAppendTime";
  s.set().compression = codec;
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
  EXPECT_EQ(s.delivery("A").timestamp, s.cluster().log("t", 0).at(1).timestamp);
}
SCENARIO(outside_catalogue, o_0052_append_time) { append_time(s, compression::none); }
SCENARIO(outside_catalogue, o_0052_append_time_compressed) { append_time(s, compression::zstd); }

void cut_after_sending(stage& s, int retries, int cuts, const char* right) {
  s.set().retries = retries;
  for (int i = 1; i <= cuts; ++i) s.broker("A#" + std::to_string(i) + " +>cut");
  s.produce("A");
  s.right(right);
  s.right("log=A");
}
SCENARIO(outside_catalogue, o_0076_cut_after_sending_enough_attempts) {
  cut_after_sending(s, 5, 3, "A=D");
}
SCENARIO(outside_catalogue, o_0076_cut_after_sending_too_few_attempts) {
  cut_after_sending(s, 1, 3, "A=U");
}

// Ten acknowledged, up to five in flight, the rest queued.
SCENARIO_TIMED(outside_catalogue, o_0086_purge) {
  for (int i = 0; i < 10; ++i) s.produce(nth(i));
  s.await_all();
  for (int i = 10; i < 30; ++i) s.broker(nth(i) + "#1 +>ok@300ms");
  for (int i = 10; i < 30; ++i) s.produce(nth(i));
  s.when("r10#1 seen");
  s.run(5ms);
  s.pause(0, pause_mode::abort_buffered);
  s.resume(0);
  s.await_all();
  int delivered = 0;
  for (int i = 10; i < 30; ++i) {
    if (s.letter(nth(i)) == "D") {
      ++delivered;
      continue;
    }
    EXPECT_EQ(s.letter(nth(i)), "N");
    EXPECT_EQ(s.code(nth(i)), client_errc::aborted);
    EXPECT_EQ(s.sends(nth(i)), 0U);
  }
  EXPECT_GE(delivered, 1);
  EXPECT_LE(delivered, 5);
}

SCENARIO_TIMED(outside_catalogue, o_0088_metadata_grows_old_while_brokers_are_away) {
  s.set().metadata_max_age = 5s;
  s.set().delivery_timeout = 1min;
  s.start();
  s.refuse_all();
  s.produce("A");
  s.run(20s);
  metadata_lie gone;
  gone.topic = "t";
  gone.topic_code = broker_errc::unknown_topic_or_partition;
  s.cluster().inject(gone);
  s.ok_all();
  s.run(3s);
  s.cluster().clear_faults();
  s.right("A=D, log=A");
}

void doubtful_answers(stage& s, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) s.broker(nth(i) + "#1 +>7");
  for (int i = 0; i < 12; ++i) {
    s.produce(nth(i));
    all += (i > 0 ? " " : "") + nth(i);
  }
  s.right("r0=D, r11=D, log=" + all);
}
SCENARIO(outside_catalogue, o_0090_timeouts_inside_the_window) { doubtful_answers(s, 3); }
SCENARIO(outside_catalogue, o_0090_timeouts_beyond_the_window) { doubtful_answers(s, 8); }

SCENARIO(outside_catalogue, o_0110_batch_size_is_kept) {
  s.set().batch_size_bytes = 2000;
  s.set().batch_records_max = 1000;
  s.set().linger = 5ms;
  for (int i = 0; i < 40; ++i) s.produce(nth(i), {.padding = 150});
  s.await_all();
  for (const attempt_note& each : s.all_attempts()) EXPECT_LE(each.size, 2000U);
}

SCENARIO(outside_catalogue, o_0117_storage_error_is_retried) {
  s.broker("A#1 ->56, A#2 +>56");
  s.produce("A B");
  s.right("A=D, B=D, log=A B");
}
SCENARIO(outside_catalogue, o_0117_storage_error_with_too_few_attempts) {
  s.set().retries = 1;
  s.broker("A#n ->56");
  s.produce("A");
  s.right("A=U");
}

// The first cluster goes away, and the servers that are left are those of another one. What waits
// was meant for another topic of that name, so it halts.
TEST(outside_catalogue, o_0121_bootstrap_servers_of_two_clusters) {
  struct noted {
    std::mutex mutex;
    std::string lines;
  } noted;
  cluster_options setup;
  setup.topics["t"].partitions = 1;
  setup.cluster_id = "the-first-cluster-----";
  auto first = std::make_unique<loopback_cluster>(setup);
  setup.cluster_id = "the-other-cluster-----";
  setup.seed = 2;
  loopback_cluster other(setup);
  ASSERT_FALSE(first->listening());
  ASSERT_FALSE(other.listening());
  producer_config config;
  config.bootstrap_servers = first->bootstrap() + "," + other.bootstrap();
  config.log_context = &noted;
  config.log = [](void* to, int level, std::string_view line) {
    auto& all = *static_cast<struct noted*>(to);
    const std::lock_guard lock(all.mutex);
    if (level <= 4) all.lines += std::string(line) + '\n';
  };
  producer used(config);
  const auto code_of_next = [&] {
    std::promise<std::error_code> told;
    partita::record one;
    one.topic = "t";
    one.partition = 0;
    one.value = "v";
    used.produce(one, [&](const outcome& answer) {
      told.set_value(answer.is_delivered() ? std::error_code() : answer.failure()->code);
    });
    return told.get_future().get();
  };
  ASSERT_FALSE(code_of_next());
  first.reset();
  EXPECT_EQ(code_of_next(), client_errc::topic_replaced);
  EXPECT_TRUE(other.log("t", 0).empty());
  const std::lock_guard lock(noted.mutex);
  EXPECT_NE(noted.lines.find("belongs to cluster the-other-cluster-----, until now it was "
                             "the-first-cluster-----"),
            std::string::npos)
      << noted.lines;
}

SCENARIO_TIMED(outside_catalogue, o_0123_idle_connections) {
  s.set().connections_max_idle = 2s;
  s.start();
  const std::uint64_t before = s.cluster().counters().connections;
  for (int i = 0; i < 5; ++i) {
    s.run(10s);
    s.produce(nth(i));
    s.right(nth(i) + "=D");
  }
  EXPECT_GE(s.cluster().counters().connections - before, 5U) << "idle ones were closed";
}

// One to five batches in doubt, a disconnect, then refusals.
void doubts_then_refusals(stage& s, int doubts) {
  for (int i = 0; i < doubts; ++i) s.broker(nth(i) + "#1 +>mute");
  s.broker("r0#2 ->19, r0#3 ->6");
  for (int i = 0; i < doubts; ++i) s.produce(nth(i));
  s.when(nth(doubts - 1) + "#1 stored");
  s.cut(1);
  for (int i = 0; i < doubts; ++i) s.right(nth(i) + "=D");
}
SCENARIO(outside_catalogue, o_0144_one_doubt) { doubts_then_refusals(s, 1); }
SCENARIO(outside_catalogue, o_0144_two_doubts) { doubts_then_refusals(s, 2); }
SCENARIO(outside_catalogue, o_0144_three_doubts) { doubts_then_refusals(s, 3); }
SCENARIO(outside_catalogue, o_0144_four_doubts) { doubts_then_refusals(s, 4); }
SCENARIO(outside_catalogue, o_0144_five_doubts) { doubts_then_refusals(s, 5); }

SCENARIO(outside_catalogue, o_unit_the_second_of_four_is_retried) {
  s.broker("B#1 ->19");
  s.produce("A B C D");
  s.right("A=D, B=D, C=D, D=D, log=A B C D");
}

TEST(outside_catalogue, o_userver_many_producers_and_threads) {
  cluster_options setup;
  setup.topics["t"].partitions = 4;
  loopback_cluster brokers(setup);
  ASSERT_FALSE(brokers.listening());
  producer_config config;
  config.bootstrap_servers = brokers.bootstrap();
  config.linger = 1ms;
  constexpr int producers = 3;
  constexpr int threads = 4;
  constexpr int each = 300;
  std::atomic<int> delivered = 0;
  {
    std::vector<std::unique_ptr<producer>> all;
    for (int i = 0; i < producers; ++i) all.push_back(std::make_unique<producer>(config));
    std::vector<std::thread> running;
    for (int p = 0; p < producers; ++p)
      for (int t = 0; t < threads; ++t)
        running.emplace_back([&all, &delivered, p, t] {
          for (int i = 0; i < each; ++i) {
            const std::string value =
                std::to_string(p) + "-" + std::to_string(t) + "-" + std::to_string(i);
            partita::record one;
            one.topic = "t";
            one.partition = t;
            one.value = value;
            all[static_cast<std::size_t>(p)]->produce(one, [&delivered](const outcome& answer) {
              if (answer.is_delivered()) ++delivered;
            });
          }
        });
    for (std::thread& one : running) one.join();
    for (const auto& one : all) EXPECT_EQ(one->flush().get().all_delivered(), true);
  }
  EXPECT_EQ(delivered, producers * threads * each);
  // Each thread had one partition: its records lie there in its order.
  for (std::int32_t t = 0; t < threads; ++t) {
    std::map<char, int> next;
    for (const log_record& found : brokers.log("t", t)) {
      const std::string& value = *found.value;
      EXPECT_EQ(std::stoi(value.substr(value.rfind('-') + 1)), next[value[0]]++) << value;
    }
    for (const auto& [name, count] : next) EXPECT_EQ(count, each);
  }
}

}  // namespace
}  // namespace partita::testing
