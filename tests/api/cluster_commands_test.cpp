#include "api/cli/cluster_commands.hpp"

#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
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

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file{PARTITA_SOURCE_DIR "/" + path};
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split(const std::string& text, char delimiter) {
  std::vector<std::string> parts;
  std::istringstream from{text};
  for (std::string part; std::getline(from, part, delimiter);) parts.push_back(part);
  return parts;
}

/// What stands between backticks.
std::vector<std::string> quoted_words(const std::string& text) {
  std::vector<std::string> words;
  const auto parts = split(text, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
  return words;
}

/// The members of a struct of a public header, as they are called in JSON.
std::vector<std::string> members_of(const std::string& name, const std::string& header) {
  std::vector<std::string> members;
  bool inside = false;
  for (const auto& line : lines_of("api/" + header)) {
    if (line == "struct " + name + " {") inside = true;
    if (line == "};") inside = false;
    const auto declared = line.substr(0, line.find(';'));  // "  type name = value", or "{value}"
    if (!inside || declared.size() == line.size() || declared.find("//") != std::string::npos)
      continue;
    const auto begin = declared.find(' ', 2) + 1;
    const auto member = declared.substr(begin, declared.find_first_of(" {", begin) - begin);
    const bool duration = declared.starts_with("  std::chrono::milliseconds");
    members.push_back(member + (duration ? "_ms" : ""));
  }
  return members;
}

using members_by_command = std::map<std::string, std::vector<std::string>>;

/// The table of commands: | `do`, ... | members (`values` of one) | what happens |.
members_by_command documented_commands() {
  constexpr std::size_t cells_of_row = 4;  // the first is empty
  members_by_command found;
  bool inside = false;
  for (const auto& line : lines_of("docs/cluster.md")) {
    if (line == "| --- | --- | --- |") inside = true;
    if (line.empty()) inside = false;
    const auto cells = split(line, '|');
    if (!inside || cells.size() != cells_of_row) continue;
    std::string named;  // without what is in parentheses
    for (std::size_t at = 0; at < cells[2].size(); ++at) {
      if (cells[2][at] == '(') at = cells[2].find(')', at);
      named += cells[2][at];
    }
    for (const auto& command : quoted_words(cells[1])) {
      auto& members = found[command];
      for (const auto& word : quoted_words(named)) {
        if (word.starts_with('<'))
          members = members_of(command, word.substr(1, word.size() - 2));
        else if (!word.starts_with('.'))
          members.push_back(word);
      }
    }
  }
  return found;
}

/// A value that each member may have.
json value_of(const std::string& command, const std::string& member) {
  static const std::map<std::string, json> values = {
      {"answer_after_ms", 5},
      {"api", "fetch"},
      {"base_offset", 7},
      {"before", 0},
      {"broker", 1},
      {"code", 7},
      {"count", 1},
      {"cut_at", 3},
      {"cut_first", true},
      {"delay_max_ms", 5},
      {"end", 0},
      {"epoch", 3},
      {"execute_after_ms", 5},
      {"execution", "skip"},
      {"first", 4},
      {"held", true},
      {"last", 9},
      {"last_sequence", 4},
      {"last_timestamp_ms", 1000},
      {"leader", 2},
      {"leader_epoch", 4},
      {"leave_out_partition", true},
      {"leave_out_topic", true},
      {"other_topic_id", "00112233-4455-6677-8899-aabbccddeeff"},
      {"partition", 0},
      {"partition_code", 5},
      {"partition_count", 3},
      {"partitions", 2},
      {"producer_id", 77},
      {"real_offset", true},
      {"replication", 1},
      {"reply", "error"},
      {"reset", true},
      {"right", "write"},
      {"setting", "max.message.bytes"},
      {"settings", {{"max.message.bytes", "1000"}}},
      {"shape", "twice"},
      {"skip_first", 1},
      {"tail", "own"},
      {"throttle_ms", 5},
      {"times", 2},
      {"topic", "t"},
      {"topic_code", 3},
      {"total", 5},
      {"value", "1000"},
      {"without_topic_id", true},
  };
  if (command == "create_topic" && member == "topic") return "new";
  if (command == "fault_mix" && !member.ends_with("_ms")) return 0.5;
  const auto found = values.find(member);
  return found == values.end() ? json("no value in this test") : found->second;
}

TEST(ClusterCommands, TakeTheMembersThatTheirPageNames) {
  const auto documented = documented_commands();
  EXPECT_GE(documented.size(), 35U);
  EXPECT_EQ(documented.at("fault").size(), 18U);
  EXPECT_EQ(documented.at("metadata_lie").size(), 14U);
  for (const auto& [command, members] : documented) {
    json line{{"do", command}};
    for (const auto& member : members) line[member] = value_of(command, member);
    const auto answer = run_alone(line);
    EXPECT_EQ(answer["ok"], true) << line << " -> " << answer;
  }
}

TEST(ClusterCommands, RefuseAMemberThatStandsTwice) {
  testing::simulation world{with_topic()};
  const auto said = run_cluster_command(
      world.cluster(), R"({"do":"create_topic","topic":"n","settings":{"a":"1","a":"2"}})");
  EXPECT_EQ(json::parse(said)["error"], "column 54: \"a\" twice");
  EXPECT_EQ(world.cluster().topics(), std::vector<std::string>{"t"});
}

TEST(ClusterCommands, RefuseAPartitionThatIsNotThere) {
  for (const auto& [topic, partition] : {std::pair{"nope", 0}, {"t", 9}}) {
    for (json line :
         std::vector<json>{{{"do", "hold_replication"}},
                           {{"do", "limit_in_sync"}, {"count", 1}},
                           {{"do", "forget_producers"}},
                           {{"do", "seed_producer"}, {"producer_id", 7}, {"last_sequence", 0}},
                           {{"do", "roll_back"}, {"end", 0}},
                           {{"do", "release_held"}},
                           {{"do", "compact"}},
                           {{"do", "partition"}}}) {
      line["topic"] = topic;
      line["partition"] = partition;
      const auto answer = run_alone(line);
      EXPECT_EQ(answer["ok"], false) << line;
      EXPECT_EQ(answer["error"], "no such partition") << line;
    }
  }
}

// -1 says "none" or "the usual" of some; less than that nothing means anything.
TEST(ClusterCommands, RefuseNegativeNumbersByName) {
  std::size_t tried = 0;
  for (const auto& [command, members] : documented_commands())
    for (const auto& negative : members) {
      if (!value_of(command, negative).is_number()) continue;
      json line{{"do", command}};
      for (const auto& member : members) line[member] = value_of(command, member);
      line[negative] = -2;
      const auto answer = run_alone(line);
      EXPECT_EQ(answer["ok"], false) << line;
      EXPECT_EQ(answer.value("error", "").find(negative + ": not "), 0U) << line << answer;
      ++tried;
    }
  EXPECT_GT(tried, 60U);
  const auto answer = run_alone({{"do", "limit_in_sync"}, {"topic", "t"}, {"count", 0}});
  EXPECT_EQ(answer["error"], "count: not a whole number from 1 to 2147483647");
}

TEST(ClusterCommands, RefuseABrokerThatIsNotThere) {
  for (const char* command : {"drop_connections", "pause", "kill", "restart", "isolate"})
    for (const int broker : {0, 99}) {
      const auto answer = run_alone({{"do", command}, {"broker", broker}});
      EXPECT_EQ(answer["ok"], false) << command;
      EXPECT_EQ(answer["error"], "no such broker") << command;
    }
}

TEST(ClusterCommands, TakeAnIdOfATopicAsDigits) {
  for (const char* id :
       {"00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF"})
    EXPECT_EQ(run_alone({{"do", "metadata_lie"}, {"other_topic_id", id}})["ok"], true) << id;
  for (const char* id :
       {"", "x", "00112233445566778899aabbccddeef", "0011223344556677x899aabbccddeeff",
        "00112233445566778899aabbccddeeff0", "-"})
    EXPECT_EQ(run_alone({{"do", "metadata_lie"}, {"other_topic_id", id}})["error"],
              "other_topic_id: not 32 hexadecimal digits")
        << id;
}

}  // namespace
}  // namespace partita::cli
