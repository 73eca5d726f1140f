// SIZE-17: at a moderate rate most records find their lane asleep, and leave it so.
#include "tests/sim/stage.hpp"

#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

constexpr int partitions = 12;
constexpr int records_per_ms = 10;

/// How often the lanes of this process went to sleep.
std::uint64_t lane_sleeps() {
  std::uint64_t sleeps = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "partita-lane") continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("voluntary_ctxt_switches:")) sleeps += std::stoull(line.substr(24));
  }
  return sleeps;
}

// Whoever is kept from the processor for a while makes up for it, so that the rate is kept.
TEST(fault_size, size_17_light_load_is_cheap) {
  cluster_options brokers;
  brokers.brokers = 1;
  brokers.topics["t"].partitions = partitions;
  loopback_cluster cluster(brokers);
  ASSERT_FALSE(cluster.listening());
  producer_config config;
  config.bootstrap_servers = cluster.bootstrap();
  config.linger = 5ms;
  producer used(config);
  std::atomic<int> delivered{0};
  int made = 0;
  const auto produce = [&] {
    partita::record one;
    one.topic = "t";
    one.partition = made++ % partitions;
    one.value = "v";
    used.produce(one, [&](const outcome& answer) { delivered += answer.is_delivered() ? 1 : 0; });
  };
  for (int i = 0; i < partitions; ++i) produce();
  ASSERT_EQ(used.flush().get(), (tally{partitions, 0, 0}));

  constexpr int records = 20'000;
  const std::uint64_t before = lane_sleeps();
  const auto begin = std::chrono::steady_clock::now();
  for (int done = 0; done < records;) {
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - begin;
    const int due = std::min(records, static_cast<int>(passed.count() * records_per_ms));
    for (; done < due; ++done) produce();
    std::this_thread::sleep_for(50us);
  }
  const auto sleeps = static_cast<double>(lane_sleeps() - before);
  (void)used.close(10s).get();

  EXPECT_EQ(delivered, partitions + records);
  RecordProperty("sleeps_per_1000_records", static_cast<int>(1000 * sleeps / records));
  EXPECT_LT(sleeps / records, 0.1);
}

SCENARIO_SEEDS(fault_size, size_17_light_load_is_cheap_in_time, 3) {
  topic_options& wide = s.set_cluster().topics["wide"];
  wide.partitions = partitions;
  s.set().linger = 5ms;
  s.start();
  constexpr int records = 2'000;
  for (int i = 0; i < records; ++i) {
    s.produce("r" + std::to_string(i) + "@p" + std::to_string(i % partitions), {.topic = "wide"});
    s.run(100us);
  }
  s.await_all();
  // Linger, a round trip, and what the row allows. The first ones wait for metadata and an id.
  for (int i = 100; i < records; ++i)
    EXPECT_LE(s.took("r" + std::to_string(i)), 5ms + 2 * 500us + 5ms) << i;
}

}  // namespace
}  // namespace partita::testing
