#include "api/cli/check.hpp"

#include "api/cli/connection_options.hpp"
#include "api/cli/exit_code.hpp"
#include "api/cli/input_file.hpp"
#include "api/cli/outcome_history.hpp"
#include "api/cli/printable.hpp"

#include <partita/error.hpp>
#include <partita/testing/log_reader.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace partita::cli {
namespace {

struct check_arguments {
  std::string bootstrap;
  std::string outcomes;
  std::string commands;
  std::string topic;
  testing::check_options options;
  bool ignore_order = false;
};

void say(const std::string& text) {
  std::fprintf(stderr, "partita: %s\n", printable_message(text).c_str());
}

int end_with(exit_code code) { return static_cast<int>(code); }

// Reads "-" from standard input. Empty when all was understood. Not by a stream: at the end of one
// it can not be told from a file that could not be read.
template <class Read>
std::string read_file(const std::string& path, Read&& read) {
  input_file file;
  if (const auto error = file.open(path)) return error.message();
  std::string content;
  std::vector<char> chunk(65'536);
  for (;;) {
    std::error_code error;
    const auto count = file.read(chunk.data(), chunk.size(), error);
    if (error == std::errc::interrupted) continue;
    if (error) return error.message();
    if (count == 0) break;
    content.append(chunk.data(), count);
  }
  std::istringstream lines{std::move(content)};
  return read(lines);
}

nlohmann::json known_number(bool known, std::int64_t value) {
  return known ? nlohmann::json(value) : nlohmann::json(nullptr);
}

testing::read_end read_topic(testing::log_reader& reader, const std::string& topic,
                             std::vector<testing::partition_history>& logs) {
  std::vector<partition_id> partitions;
  auto described = reader.partitions(topic, partitions);
  if (described.error == broker_errc::unknown_topic_or_partition) {
    say("note: there is no topic '" + topic + "', so that nothing of it is in the log");
    return {};
  }
  if (!described.ok()) return described;
  for (const auto partition : partitions) {
    testing::partition_history history{topic, partition, {}};
    auto end = reader.read(topic, partition, [&](const testing::log_record& record) {
      if (history.log.empty()) history.start = record.offset;
      history.log.push_back(record);
    });
    if (!end.ok()) return end;
    logs.push_back(std::move(history));
  }
  return {};
}

void print(const testing::anomaly& found) {
  const nlohmann::json line{
      {"anomaly", testing::name(found.kind)},
      {"topic", found.topic},
      {"partition", known_number(found.partition.known(), found.partition.value)},
      {"offset", known_number(found.offset.known(), found.offset.value)},
      {"record", found.order},
      {"text", found.text}};
  std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int check(const check_arguments& arguments) {
  outcome_history history;
  const auto wrong = [](const std::string& path, const std::string& what) {
    say((path == "-" ? "stdin" : path) + ": " + what);
    return end_with(exit_code::usage);
  };
  if (!arguments.commands.empty())
    if (const auto what = read_file(
            arguments.commands, [&](std::istream& from) { return history.read_commands(from); });
        !what.empty())
      return wrong(arguments.commands, what);
  for (const auto& note : history.notes()) say("note: " + arguments.commands + ": " + note);
  if (const auto what = read_file(
          arguments.outcomes,
          [&](std::istream& from) { return history.read_outcomes(from, arguments.topic); });
      !what.empty())
    return wrong(arguments.outcomes, what);

  std::set<std::string> topics;
  for (const auto& record : history.records()) topics.insert(record.record.topic);
  testing::log_reader reader{arguments.bootstrap};
  std::vector<testing::partition_history> logs;
  for (const auto& topic : topics)
    if (const auto end = read_topic(reader, topic, logs); !end.ok()) {
      say(end.text);
      return end_with(is_unreachable(end.error) ? exit_code::unreachable : exit_code::usage);
    }
  auto options = arguments.options;
  options.order = !arguments.ignore_order;
  options.halted_keys_wait = true;
  const auto anomalies = testing::check(history.records(), logs, options);
  for (const auto& one : anomalies) print(one);
  std::printf("{\"records\":%zu,\"anomalies\":%zu}\n", history.records().size(), anomalies.size());
  return end_with(anomalies.empty() ? exit_code::ok : exit_code::not_written);
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "Compare outcomes with what the log holds");
  auto arguments = std::make_shared<check_arguments>();
  add_bootstrap_option(*command, arguments->bootstrap);
  command
      ->add_option("--outcomes", arguments->outcomes,
                   "What `partita drive` printed, or lines like it; - for standard input")
      ->required();
  command->add_option("--commands", arguments->commands,
                      "What it read: the records by name; without it the outcomes describe them");
  command->add_option("-t,--topic", arguments->topic, "Topic of outcomes that name none");
  command->add_flag("--others-may-write", arguments->options.others_may_write,
                    "Records that no outcome names are no anomaly");
  command->add_flag("--log-append-time", arguments->options.log_append_time,
                    "The topic's timestamps are the broker's");
  command->add_flag("--ignore-order", arguments->ignore_order,
                    "The log may have another order than the records, also those of one key");
  command->footer(R"(Exit code
  0 the log agrees   2 there are anomalies   6 cluster unreachable
  1 usage, input, a topic that can't be read, output that can't be written)");
  command->callback([arguments, &exit_code] { exit_code = check(*arguments); });
}

}  // namespace partita::cli
