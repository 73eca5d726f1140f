// The cluster itself, before anything of ours is trusted with it: other people's clients write and
// read.
#include "integration/kafka_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace partita::testing {
namespace {

std::string version_under_test() {
  const char* version = std::getenv("PARTITA_KAFKA_VERSION");
  return version != nullptr ? version : "4.4.0";
}

int line_count(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::string kcat(const kafka_cluster& cluster, const std::string& arguments) {
  const command_result result = run_command("kcat -b " + cluster.bootstrap() + " " + arguments);
  EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.output;
  return result.output;
}

void produce(const kafka_cluster& cluster, const std::string& lines) {
  const command_result result =
      run_command(lines + " | kcat -P -b " + cluster.bootstrap() + " -t letters -K :");
  EXPECT_EQ(result.exit_code, 0) << lines << "\n" << result.output;
}

TEST(KafkaCluster, ServesForeignClientsAndSurvivesTheDeathOfABroker) {
  kafka_cluster cluster({.version = version_under_test(), .brokers = 3});
  cluster.create_topic("letters", 6, 3);
  produce(cluster, "seq 1 500 | sed 's/.*/key-&:value-&/'");

  EXPECT_EQ(line_count(kcat(cluster, "-C -t letters -e -q")), 500);
  const std::string consumed = cluster.console_consume("letters", 500);
  EXPECT_EQ(line_count(consumed), 500);
  EXPECT_NE(consumed.find("value-500\n"), std::string::npos);

  cluster.kill_broker(2);
  produce(cluster, "echo key-501:value-501");
  EXPECT_EQ(line_count(kcat(cluster, "-C -t letters -e -q")), 501);

  cluster.restart_broker(2);
  EXPECT_NE(kcat(cluster, "-L -t letters").find("broker 2 at"), std::string::npos);
}

}  // namespace
}  // namespace partita::testing
