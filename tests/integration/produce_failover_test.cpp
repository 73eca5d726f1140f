// Three real brokers, of which one dies, or stands still, while records are produced. Every answer
// is compared with the log that is left when all is quiet.
#include "integration/acknowledged_history.hpp"
#include "integration/foreign_readers.hpp"
#include "integration/shared_cluster.hpp"

#include <partita/producer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace partita::testing {
namespace {

const shared_cluster three_brokers(3, {"min.insync.replicas=2"});

constexpr int partitions = 6;

producer_config config_here() {
  producer_config config;
  config.bootstrap_servers = shared_cluster::get().bootstrap();
  config.on_failure = failure_policy::skip;
  return config;
}

/// Produces small records to all partitions from a thread of its own until it is told to end.
class steady_source {
 public:
  steady_source(producer& producer, acknowledged_history& history)
      : thread_([this, &producer, &history] {
          for (int number = 0; !ends_.load(); ++number) {
            const std::string key = "key-" + std::to_string(number % 50);
            history.produce(producer,
                            {key, "value-" + std::to_string(number), {}, number % partitions, {}},
                            3'000);
            produced_.store(number + 1);
            if (number % 10 == 9) std::this_thread::sleep_for(std::chrono::milliseconds{1});
          }
        }) {}
  ~steady_source() { end(); }

  /// Returns once that many more records were produced.
  void await_more(int records) const {
    const int goal = produced_.load() + records;
    while (produced_.load() < goal) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  void end() {
    ends_.store(true);
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> ends_{false};
  std::atomic<int> produced_{0};
  std::thread thread_;
};

/// Polls for a fact; the test goes on without it after two minutes and says so.
void await(const char* fact, const std::function<bool()>& holds) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "not seen within two minutes: " << fact;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

/// One record more for each partition, delivered: whatever was sent before it is decided.
void settle_each_partition(acknowledged_history& history) {
  producer last(config_here());
  for (int partition = 0; partition < partitions; ++partition) {
    history.produce(last, {"last", "of partition " + std::to_string(partition), {}, partition, {}});
  }
  EXPECT_TRUE(last.flush().get().all_delivered());
}

TEST(ProduceToThreeBrokers, IsReadBackAsItWasAcknowledged) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("replicated", 12, 3);
  acknowledged_history history("replicated");
  producer_config config = config_here();
  config.lanes = 2;
  config.compression = compression::zstd;
  producer producer(config);

  for (int number = 0; number < 10'000; ++number) {
    history.produce(producer, {"key-" + std::to_string(number % 777),
                               "value-" + std::to_string(number),
                               {{"number", std::to_string(number)}},
                               {},
                               {}});
  }
  (void)producer.flush().get();

  EXPECT_EQ(history.unanswered(), 0U);
  EXPECT_EQ(history.tallied(), (tally{.delivered = 10'000}));
  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "replicated")), "");
  EXPECT_EQ(console_read(cluster.version(), cluster.bootstrap(), "replicated", 10'000),
            history.console_lines());
}

TEST(ProduceToThreeBrokers, DeliversEachRecordOnceWhenALeaderIsKilled) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("killed", partitions, 3);
  const int victim = leaders_of(cluster.bootstrap(), "killed")[0];
  ASSERT_GE(victim, 1);
  acknowledged_history history("killed");
  producer producer(config_here());

  steady_source source(producer, history);
  source.await_more(2'000);
  cluster.kill_broker(victim);
  await("another leader", [&] {
    const auto leaders = leaders_of(cluster.bootstrap(), "killed");
    return leaders.contains(0) && leaders.at(0) >= 1 && leaders.at(0) != victim;
  });
  source.await_more(2'000);
  cluster.restart_broker(victim);
  source.await_more(2'000);
  source.end();
  (void)producer.flush().get();
  settle_each_partition(history);

  ASSERT_EQ(history.unanswered(), 0U);
  EXPECT_EQ(history.tallied(), (tally{.delivered = history.entries().size()}));
  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "killed")), "");
}

TEST(ProduceToThreeBrokers, TellsTheTruthByADeadlineWhileALeaderStandsStill) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("stopped", partitions, 3);
  const int victim = leaders_of(cluster.bootstrap(), "stopped")[0];
  ASSERT_GE(victim, 1);
  acknowledged_history history("stopped");
  producer_config config = config_here();
  config.delivery_timeout = std::chrono::milliseconds{1'200};
  config.request_timeout = std::chrono::milliseconds{1'000};
  config.max_block = std::chrono::milliseconds{1'200};
  producer producer(config);
  const auto answered = [&] {
    tally sum;
    for (const partition_status& each : producer.status().get().partitions) sum += each.answered;
    return sum;
  };

  steady_source source(producer, history);
  await("records delivered", [&] { return answered().delivered > 1'000; });
  const std::uint64_t unknown_before = answered().unknown;
  cluster.pause_broker(victim);
  // Its frames were handed over and lie in its socket; their records are given up in doubt.
  await("a record of unknown fate", [&] { return answered().unknown > unknown_before; });
  cluster.continue_broker(victim);  // now it executes what lay there
  const std::uint64_t delivered_before = answered().delivered;
  await("more of them", [&] { return answered().delivered > delivered_before + 1'000; });
  source.end();
  (void)producer.flush().get();
  settle_each_partition(history);

  ASSERT_EQ(history.unanswered(), 0U);
  const tally tallied = history.tallied();
  EXPECT_GT(tallied.unknown, 0U);
  EXPECT_GT(tallied.delivered, 1'000U);
  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "stopped")), "");
  RecordProperty("unknown", std::to_string(tallied.unknown));
  RecordProperty("not_written", std::to_string(tallied.not_written));
}

}  // namespace
}  // namespace partita::testing
