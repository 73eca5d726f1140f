// Testing an application against simulated brokers: a fault is scripted, the application runs, and
// the checker compares what it was told with what the log holds.
//
//     10_testing_with_cluster
#include <partita/producer.hpp>
#include <partita/testing/checker.hpp>
#include <partita/testing/cluster.hpp>

#include <deque>
#include <iostream>
#include <string>
#include <vector>

namespace testing = partita::testing;

int main() {
  testing::loopback_cluster cluster{{.brokers = 3, .topics = {{"orders", {.partitions = 1}}}}};
  // The first batch is appended, and its answer is lost with the connection.
  testing::fault lost_answer;
  lost_answer.topic = "orders";
  lost_answer.execution = testing::execution::append;
  lost_answer.reply = testing::reply::reset;
  cluster.inject(lost_answer);

  // The application under test, which keeps what it was told.
  std::deque<testing::produced_record> told;
  {
    partita::producer producer{{.bootstrap_servers = cluster.bootstrap()}};
    for (int number = 0; number < 100; ++number) {
      testing::produced_record& one = told.emplace_back();
      one.order = static_cast<std::uint64_t>(number);
      one.client_timestamp = false;
      one.record.topic = "orders";
      one.record.key = "key-" + std::to_string(number % 7);
      one.record.value = "order " + std::to_string(number);
      one.record.partition = 0;
      producer.produce({.topic = "orders", .key = one.record.key, .value = one.record.value},
                       [&one](const partita::outcome& answer) { one.answers.push_back(answer); });
    }
    const partita::tally counts = producer.flush().get();
    std::cout << counts.delivered << " delivered, " << counts.not_written << " not written, "
              << counts.unknown << " unknown\n";
  }

  const std::vector<testing::produced_record> records(told.begin(), told.end());
  const std::vector<testing::anomaly> anomalies =
      testing::check(records, testing::read_logs(cluster, records));
  std::cout << testing::report(anomalies) << anomalies.size() << " anomalies, "
            << cluster.counters().faults_hit << " fault\n";
  return anomalies.empty() && cluster.counters().faults_hit == 1 ? 0 : 2;
}
