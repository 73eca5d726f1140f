// The main function of the tests with real brokers. The version comes from PARTITA_KAFKA_VERSION.
// Where Kafka can not be had, the whole program is skipped with one line (exit code 77), or fails
// when PARTITA_REQUIRE_KAFKA is 1.
#include "integration/kafka_cluster.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  const char* version = std::getenv("PARTITA_KAFKA_VERSION");
  if (const auto reason =
          partita::testing::kafka_cluster::unavailable(version ? version : "4.4.0")) {
    const char* required = std::getenv("PARTITA_REQUIRE_KAFKA");
    const bool fails = required != nullptr && std::string(required) == "1";
    std::printf("######## %s: no real Kafka here: %s\n", fails ? "FAILED" : "SKIPPED",
                reason->c_str());
    return fails ? 1 : 77;
  }
  return RUN_ALL_TESTS();
}
