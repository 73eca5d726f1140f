// What is counted by cost_test.sh: one producer on the simulated cluster, in one thread and in
// virtual time, so that every run does the same. 100-byte values with keys, idempotent, 12
// partitions on 3 brokers.
//
//     record_cost RECORDS
#include <partita/producer.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace partita;

constexpr int burst = 1000;

std::vector<std::string> numbered(const char* format, std::size_t count) {
  std::vector<std::string> made;
  char text[128];
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(text, sizeof text, format, i);
    made.emplace_back(text);
  }
  return made;
}

testing::simulation_options world() {
  testing::simulation_options setup;
  setup.cluster.brokers = 3;
  setup.cluster.topics["t"].partitions = 12;
  setup.cluster.seed = 1;
  setup.links.latency_min = setup.links.latency_max = 200us;
  setup.links.split = 0;
  setup.links.send_buffer_bytes = 4 << 20;
  return setup;
}

}  // namespace

int main(int argc, char** argv) {
  const int records = argc == 2 ? std::atoi(argv[1]) : 0;
  if (records <= 0) return 2;
  const auto keys = numbered("customer-%07zu", 512);
  const auto values = numbered("{\"order\":%082zu}", 512);
  testing::simulation cluster(world());
  producer_config config;
  config.bootstrap_servers = cluster.bootstrap();
  config.linger = 5ms;
  const auto used = testing::make_producer(cluster, config, {1, 1});
  int delivered = 0;
  for (int made = 0; made < records;) {
    for (int i = 0; i < burst && made < records; ++i, ++made) {
      const auto at = static_cast<std::size_t>(made) % keys.size();
      used->produce({.topic = "t", .key = keys[at], .value = values[at]},
                    [&delivered](const outcome& answer) { delivered += answer.is_delivered(); });
    }
    cluster.time().run_for(1ms);
  }
  testing::wait_for(cluster, used->flush());
  std::printf("delivered %d\nrequests %llu\n", delivered,
              static_cast<unsigned long long>(cluster.cluster().counters().produce_requests));
  return delivered == records ? 0 : 1;
}
