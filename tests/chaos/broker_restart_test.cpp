// A figure: how soon after a broker serves again the first record is acknowledged. It is measured
// against a client that asks the broker all the time, and printed; less than a second is promised.
// A noisy machine may take longer, so only the delivery is checked.
#include "api/testing/blocking_client.hpp"
#include "integration/kafka_cluster.hpp"
#include "wire/messages/metadata.hpp"

#include <partita/producer.hpp>
#include <partita/testing/log_reader.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr int rounds = 3;

/// The broker lists itself as the leader of the topic's partition.
bool serves(std::uint16_t port, const std::string& topic) {
  testing::blocking_client client(500ms);
  if (!client.connect("127.0.0.1", port).ok()) return false;
  wire::metadata_request ask;
  ask.topics.emplace();
  ask.topics->push_back({{}, topic});
  ask.allow_auto_topic_creation = false;
  wire::metadata_response answer;
  std::vector<std::byte> storage;
  if (!client.call(ask, 9, answer, storage).ok()) return false;
  return answer.topics.size() == 1 && answer.topics[0].error_code == broker_errc::none &&
         answer.topics[0].partitions.size() == 1 && answer.topics[0].partitions[0].leader.known();
}

/// From the moment when the restarted broker serves to the first answer; produced while it is down.
std::chrono::milliseconds measure(testing::kafka_cluster& cluster, producer& producer, int round) {
  std::atomic<bool> answered{false};
  std::atomic<bool> delivered{false};
  std::atomic<steady::rep> when{0};
  cluster.stop_broker(1);
  producer.produce({.topic = "restarted", .key = {}, .value = std::to_string(round)},
                   [&](const outcome& answer) {
                     when = steady::now().time_since_epoch().count();
                     delivered = answer.is_delivered();
                     answered = true;
                   });
  std::thread restart([&] { cluster.restart_broker(1); });
  const auto limit = steady::now() + 90s;
  while (!serves(cluster.port(1), "restarted") && steady::now() < limit)
    std::this_thread::sleep_for(2ms);
  const auto serving = steady::now();
  while (!answered && steady::now() < limit) std::this_thread::sleep_for(1ms);
  restart.join();
  EXPECT_TRUE(delivered) << "round " << round;
  const steady::time_point answer{steady::duration{when.load()}};
  return std::chrono::duration_cast<std::chrono::milliseconds>(answer - serving);
}

TEST(BrokerRestart, DeliversWhatWasProducedMeanwhile) {
  testing::kafka_cluster cluster({.brokers = 1});
  cluster.create_topic("restarted", 1, 1);
  producer_config config;
  config.bootstrap_servers = cluster.bootstrap();
  producer producer(config);
  producer.produce({.topic = "restarted", .key = {}, .value = "warm"}, [](const outcome&) {});
  ASSERT_TRUE(producer.flush().get().all_delivered());

  for (int round = 1; round <= rounds; ++round) {
    const auto waited = measure(cluster, producer, round);
    std::printf("first acknowledgement %lld ms after the broker serves again\n",
                static_cast<long long>(waited.count()));
  }
}

}  // namespace
}  // namespace partita::chaos
