// What a producer needs to deliver once a restarted broker serves again: the first attempts to
// connect, and no more. How long that took, against a client that asks the broker all the time, is
// printed only: less than a second is promised, and a noisy machine may take longer.
#include "api/testing/blocking_client.hpp"
#include "chaos/fault_proxy.hpp"
#include "integration/kafka_cluster.hpp"
#include "wire/messages/metadata.hpp"

#include <partita/producer.hpp>
#include <partita/testing/log_reader.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr int rounds = 3;
/// One connection to ask, one to produce, and one that was tried while the broker began to listen.
constexpr std::uint64_t attempts_max = 3;

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

struct restart_figures {
  std::chrono::milliseconds waited{};  ///< from when the restarted broker serves to the answer
  std::uint64_t attempts_down = 0;     ///< to connect, until then
  std::uint64_t attempts_up = 0;       ///< and after it
};

/// Of a record that is produced while the broker is down.
restart_figures measure(testing::kafka_cluster& cluster, fault_proxy& proxy, producer& producer) {
  std::atomic<bool> answered{false};
  std::atomic<bool> delivered{false};
  std::atomic<steady::rep> when{0};
  cluster.stop_broker(1);
  const std::uint64_t at_stop = proxy.attempts(0);
  producer.produce({.topic = "restarted", .key = {}, .value = "meanwhile"},
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
  const std::uint64_t at_serving = proxy.attempts(0);
  while (!answered && steady::now() < limit) std::this_thread::sleep_for(1ms);
  const std::uint64_t at_answer = proxy.attempts(0);
  restart.join();
  EXPECT_TRUE(delivered);
  const steady::time_point answer{steady::duration{when.load()}};
  return {std::chrono::duration_cast<std::chrono::milliseconds>(answer - serving),
          at_serving - at_stop, at_answer - at_serving};
}

TEST(BrokerRestart, DeliversWhatWasProducedMeanwhileByTheFirstAttempts) {
  testing::kafka_cluster cluster({.brokers = 1, .proxied = true});
  cluster.create_topic("restarted", 1, 1);
  fault_proxy proxy({{cluster.proxy_port(1), cluster.proxied_port(1)}}, 1);
  ASSERT_EQ(proxy.failure(), "");
  producer_config config;
  config.bootstrap_servers = "127.0.0.1:" + std::to_string(cluster.proxy_port(1));
  producer producer(config);
  producer.produce({.topic = "restarted", .key = {}, .value = "warm"}, [](const outcome&) {});
  ASSERT_TRUE(producer.flush().get().all_delivered());

  for (int round = 1; round <= rounds; ++round) {
    const restart_figures seen = measure(cluster, proxy, producer);
    EXPECT_GE(seen.attempts_down, 1U) << "it knew that the broker was down";
    EXPECT_LE(seen.attempts_up, attempts_max);
    std::printf(
        "first acknowledgement %lld ms after the broker serves again, by %llu attempts to "
        "connect after %llu in vain\n",
        static_cast<long long>(seen.waited.count()), (unsigned long long)seen.attempts_up,
        (unsigned long long)seen.attempts_down);
  }
}

}  // namespace
}  // namespace partita::chaos
