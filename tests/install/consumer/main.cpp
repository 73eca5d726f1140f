// Uses the installed package from outside: produces to the simulated cluster on loopback and looks
// the record up in its log.
#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>

#include <chrono>
#include <cstdio>

int main() {
  partita::testing::loopback_cluster cluster({.brokers = 1, .topics = {{"orders", {}}}});
  if (cluster.listening()) {
    std::printf("no loopback cluster: %s\n", cluster.listening().message().c_str());
    return 1;
  }
  partita::producer producer{{.bootstrap_servers = cluster.bootstrap()}};
  bool delivered = false;
  producer.produce(
      {.topic = "orders", .key = "42", .value = "paid"},
      [&delivered](const partita::outcome& answer) { delivered = answer.is_delivered(); });
  const partita::close_report report = producer.close(std::chrono::seconds(30)).get();
  if (!delivered || !report.unsent.empty()) {
    std::puts("the record was not delivered");
    return 1;
  }
  std::puts("consumer: ok");
  return 0;
}
