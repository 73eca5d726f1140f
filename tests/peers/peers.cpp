// Takes clients through the fault scripts and prints, for each, what it said and what the log held.
//
//     peers [--only ID] NAME=COMMAND...
//
// A command is run with four more arguments, bootstrap servers, delivery, request and linger time,
// unless its name is partita: that one is the path of the program. Prints a table for
// docs/comparison.md. The exit code is 1 if partita said something that the log contradicts.
#include "peers/fault_scripts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <csignal>

namespace partita::peers {
namespace {

using namespace std::chrono_literals;

struct contender {
  std::string name;
  std::vector<std::string> command;
};

/// How bad what was found is; the last table counts by it.
enum class finding : std::uint8_t { false_answer, duplicate, order, fate_not_told, broken };
constexpr std::size_t findings = 5;

struct verdict {
  std::string said;
  std::string log;
  std::vector<std::pair<finding, std::string>> faults;
};

std::vector<std::string> command_of(const contender& who, const std::string& bootstrap,
                                    const peer_limits& limits) {
  std::vector<std::string> words = who.command;
  const auto text = [](std::chrono::milliseconds time) { return std::to_string(time.count()); };
  if (who.name == "partita") {
    for (const std::string& word :
         {std::string("drive"), std::string("-b"), bootstrap, std::string("-F"),
          std::string("/dev/null"), "-Xdelivery.timeout.ms=" + text(limits.delivery),
          "-Xrequest.timeout.ms=" + text(limits.request), "-Xlinger.ms=" + text(limits.linger)})
      words.push_back(word);
  } else {
    const bool no_deadline = limits.back_dated && who.name == "franz-go";
    for (const std::string& word : {bootstrap, no_deadline ? "0" : text(limits.delivery),
                                    text(limits.request), text(limits.linger)})
      words.push_back(word);
  }
  return words;
}

/// Where each value lies: partition and offset, in the order of the log.
struct copies {
  std::map<std::string, std::vector<std::pair<int, std::int64_t>>> by_value;
  std::map<int, std::vector<std::string>> order;
};

copies read(const testing::cluster& cluster) {
  copies found;
  for (int partition = 0; partition < 3; ++partition)
    for (const testing::log_record& each : cluster.log("t", partition)) {
      const std::string value = each.value.value_or("?");
      if (value == "warm") continue;
      found.by_value[value].emplace_back(partition, each.offset.value);
      found.order[partition].push_back(value);
    }
  return found;
}

std::string log_text(const copies& found) {
  std::string text;
  for (const auto& [partition, values] : found.order) {
    if (!text.empty()) text += "; ";
    if (partition != 0) text += "p" + std::to_string(partition) + ": ";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? " " : "") + values[i];
  }
  return text.empty() ? "nothing" : text;
}

/// What the answer of one record says against its copies.
void judge_one(const std::string& name, const std::optional<peer_outcome>& said,
               const std::vector<std::pair<int, std::int64_t>>& places,
               std::vector<std::pair<finding, std::string>>& faults) {
  const auto add = [&](finding kind, const char* text) { faults.emplace_back(kind, name + text); };
  if (places.size() > 1) add(finding::duplicate, " stored twice");
  if (!said) {
    add(finding::broken, " never answered");
    return;
  }
  if (said->outcome == "delivered") {
    const bool there = std::any_of(places.begin(), places.end(), [&](const auto& place) {
      return said->offset < 0 || (place.first == said->partition && place.second == said->offset);
    });
    if (places.empty())
      add(finding::false_answer, " acknowledged and lost");
    else if (!there)
      add(finding::false_answer, " acknowledged at another's offset");
  }
  if (said->outcome == "not_written" && !places.empty())
    add(finding::false_answer, " said not written, is there");
  if (said->outcome == "failed" && !places.empty())
    add(finding::fate_not_told, " failed, and is there");
}

verdict judge(const fault_script& script, const stage& on, const copies& found) {
  verdict result;
  result.log = log_text(found);
  std::string failed_before;
  for (const std::string& name : on.names()) {
    const auto said = on.client.outcome_of(name);
    const auto at = found.by_value.find(name);
    const std::vector<std::pair<int, std::int64_t>> none;
    judge_one(name, said, at == found.by_value.end() ? none : at->second, result.faults);
    if (!result.said.empty()) result.said += ", ";
    result.said += name + " " + (said ? said->outcome : "no answer");
    if (said && said->outcome != "delivered" && !said->code.empty())
      result.said += " (" + said->code + ")";
    const bool passes = said && said->outcome == "delivered" && !failed_before.empty();
    if (passes && !script.goes_on_by_will && !script.needs_cancel)
      result.faults.emplace_back(finding::order, name + " passed " + failed_before);
    if (said && said->outcome != "delivered" && failed_before.empty()) failed_before = name;
  }
  for (const auto& [partition, values] : found.order) {
    std::vector<std::size_t> ranks;
    for (const std::string& value : values)
      ranks.push_back(static_cast<std::size_t>(
          std::find(on.names().begin(), on.names().end(), value) - on.names().begin()));
    if (!std::is_sorted(ranks.begin(), ranks.end()))
      result.faults.emplace_back(finding::order, "out of order");
  }
  return result;
}

verdict run(const fault_script& script, const contender& who) {
  testing::cluster_options options;
  options.topics["t"] = {.partitions = 3, .replicas = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}};
  testing::loopback_cluster cluster(options);
  if (cluster.listening())
    return {"", "", {{finding::broken, "no brokers: " + cluster.listening().message()}}};
  peer_process client(command_of(who, cluster.bootstrap(), script.limits));
  if (!script.cold) {
    client.say(
        R"({"do":"produce","name":"warm","topic":"t","partition":0,"key":"k","value":"warm"})");
    if (!client.await("warm", 90s)) return {"", "", {{finding::broken, "did not start"}}};
  }
  stage on(cluster, client, script.limits);
  script.run(on);
  cluster.clear_faults();
  client.finish(script.limits.delivery + 5s);
  return judge(script, on, read(cluster));
}

std::string joined(const verdict& one) {
  std::string text;
  for (const auto& [kind, words] : one.faults) text += (text.empty() ? "" : "; ") + words;
  return text;
}

bool has(const verdict& one, finding kind) {
  return std::any_of(one.faults.begin(), one.faults.end(),
                     [&](const auto& each) { return each.first == kind; });
}

int run_all(const std::vector<contender>& contenders, const std::string& only) {
  std::map<std::string, std::array<int, findings>> counts;
  int taken = 0;
  for (const fault_script& script : fault_scripts()) {
    if (!only.empty() && script.id != only) continue;
    ++taken;
    std::vector<verdict> verdicts(contenders.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < contenders.size(); ++i)
      threads.emplace_back([&, i] { verdicts[i] = run(script, contenders[i]); });
    for (std::thread& each : threads) each.join();
    std::cout << "\n**" << script.id << "**: " << script.what << ".\n\n"
              << "| Client | Said | Log | |\n| --- | --- | --- | --- |\n";
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const verdict& one = verdicts[i];
      for (std::size_t kind = 0; kind < findings; ++kind)
        if (has(one, static_cast<finding>(kind))) ++counts[contenders[i].name][kind];
      std::cout << "| " << contenders[i].name << " | " << one.said << " | " << one.log << " | "
                << (one.faults.empty() ? "true" : "**" + joined(one) + "**") << " |\n";
    }
    std::cout << std::flush;
  }
  std::cout << "\n| Client (" << taken
            << " scripts) | False answer | Stored twice | Order broken | Failed, and in the log | "
               "No answer |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const contender& each : contenders) {
    std::cout << "| " << each.name;
    for (const int count : counts[each.name]) std::cout << " | " << count;
    std::cout << " |\n";
  }
  const auto& ours = counts["partita"];
  return std::all_of(ours.begin(), ours.end(), [](int count) { return count == 0; }) ? 0 : 1;
}

}  // namespace
}  // namespace partita::peers

int main(int count, char** arguments) {
  using namespace partita::peers;
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<contender> contenders;
  std::string only;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--only" && i + 1 < count) {
      only = arguments[++i];
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      std::cerr << "peers [--only ID] NAME=COMMAND...\n";
      return 2;
    }
    contender who{word.substr(0, equals), {}};
    std::istringstream words(word.substr(equals + 1));
    for (std::string each; words >> each;) who.command.push_back(each);
    contenders.push_back(who);
  }
  return run_all(contenders, only);
}
