#include "api/cli/cluster_commands.hpp"

#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace partita::cli {
namespace {

using json = nlohmann::json;

testing::simulation_options with_topic() {
  testing::simulation_options options;
  options.cluster.topics["t"] = {.partitions = 2};
  return options;
}

json run_alone(const json& command) {
  testing::simulation world{with_topic()};
  return json::parse(run_cluster_command(world.cluster(), command.dump()));
}

TEST(ClusterCommands, RefuseAPartitionThatIsNotThere) {
  for (const auto& [topic, partition] : {std::pair{"nope", 0}, {"t", 9}, {"t", -1}}) {
    for (json line :
         std::vector<json>{{{"do", "hold_replication"}},
                           {{"do", "limit_in_sync"}, {"count", 1}},
                           {{"do", "forget_producers"}},
                           {{"do", "seed_producer"}, {"producer_id", 7}, {"last_sequence", 0}},
                           {{"do", "roll_back"}, {"end", 0}},
                           {{"do", "release_held"}},
                           {{"do", "partition"}}}) {
      line["topic"] = topic;
      line["partition"] = partition;
      const auto answer = run_alone(line);
      EXPECT_EQ(answer["ok"], false) << line;
      EXPECT_EQ(answer["error"], "no such partition") << line;
    }
  }
}

TEST(ClusterCommands, RefuseABrokerThatIsNotThere) {
  for (const char* command : {"drop_connections", "pause", "kill", "restart", "isolate"})
    for (const int broker : {0, 99}) {
      const auto answer = run_alone({{"do", command}, {"broker", broker}});
      EXPECT_EQ(answer["ok"], false) << command;
      EXPECT_EQ(answer["error"], "no such broker") << command;
    }
}

}  // namespace
}  // namespace partita::cli
