#include "integration/kafka_cluster.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace partita::testing {
namespace {

const std::string script = PARTITA_SOURCE_DIR "/tests/integration/kafka_cluster.sh";

std::string run_directory() {
  if (const char* given = std::getenv("PARTITA_RUN_DIR"); given != nullptr && *given != '\0') {
    return given;
  }
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache != nullptr ? std::string(cache)
                           : std::string(home != nullptr ? home : "/tmp") + "/.cache") +
         "/partita/run";
}

std::string fresh_directory() {
  static std::atomic<int> count = 0;
  return run_directory() + "/test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      quoted += "'\\''";
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

command_result run_command(const std::string& command_line) {
  command_result result;
  FILE* pipe = popen(command_line.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[65536];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    result.output.append(buffer, got);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::map<std::int32_t, int> leaders_of(const std::string& bootstrap, const std::string& topic) {
  std::map<std::int32_t, int> leaders;
  const command_result listed = run_command("timeout 60 kcat -L -X log_level=0 -b " + bootstrap +
                                            " -t " + shell_quoted(topic) + " 2>/dev/null");
  std::istringstream lines(listed.output);
  for (std::string line; std::getline(lines, line);) {
    int partition = 0;
    int leader = 0;
    if (std::sscanf(line.c_str(), " partition %d, leader %d,", &partition, &leader) == 2)
      leaders[partition] = leader;
  }
  return leaders;
}

std::optional<std::string> kafka_cluster::unavailable(const std::string& version) {
  if (run_command("command -v java && command -v kcat && command -v setsid").exit_code != 0) {
    return "java or kcat is not installed";
  }
  const command_result fetched = run_command(shell_quoted(script) + " fetch " + version + " 2>&1");
  if (fetched.exit_code != 0) return first_line(fetched.output);
  return std::nullopt;
}

kafka_cluster::kafka_cluster(const kafka_options& options)
    : options_(options), directory_(fresh_directory()) {
  std::string arguments = "start -v " + options.version + " -n " + std::to_string(options.brokers) +
                          " -o " + std::to_string(getpid());
  if (options.proxied) arguments += " -x";
  for (const std::string& setting : options.settings) arguments += " -s " + shell_quoted(setting);
  bootstrap_ = first_line(control(arguments));
}

kafka_cluster::~kafka_cluster() { control("stop"); }

void kafka_cluster::create_topic(const std::string& name, int partitions, int replicas,
                                 const std::vector<std::string>& configs) {
  std::string arguments = "topics --create --topic " + shell_quoted(name) + " --partitions " +
                          std::to_string(partitions) + " --replication-factor " +
                          std::to_string(replicas);
  for (const std::string& config : configs) arguments += " --config " + shell_quoted(config);
  control(arguments);
  for (int id = 1; id <= options_.brokers; ++id) await_leaders(id, name, partitions);
}

/// Kafka answers the creation before every broker has heard of the topic. librdkafka fails records
/// for good when a broker that has not answers a later refresh.
void kafka_cluster::await_leaders(int id, const std::string& topic, int partitions) {
  const std::string alone = "127.0.0.1:" + std::to_string(port(id));
  const auto all_led = [&] {
    const auto leaders = leaders_of(alone, topic);
    return std::count_if(leaders.begin(), leaders.end(),
                         [](const auto& each) { return each.second >= 1; }) == partitions;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!all_led()) {
    if (std::chrono::steady_clock::now() < end) continue;
    std::fprintf(stderr, "kafka_cluster: broker %d does not learn of topic %s\n", id,
                 topic.c_str());
    std::abort();
  }
}

void kafka_cluster::delete_topic(const std::string& name) {
  control("topics --delete --topic " + shell_quoted(name));
}

std::uint16_t kafka_cluster::port(int id) const {
  const std::size_t colon = bootstrap_.find(':');
  return static_cast<std::uint16_t>(std::stoi(bootstrap_.substr(colon + 1)) + id - 1);
}

void kafka_cluster::kill_broker(int id) { control("kill " + std::to_string(id)); }
void kafka_cluster::stop_broker(int id) { control("term " + std::to_string(id)); }
void kafka_cluster::restart_broker(int id) { control("restart " + std::to_string(id)); }
void kafka_cluster::pause_broker(int id) { control("pause " + std::to_string(id)); }
void kafka_cluster::continue_broker(int id) { control("cont " + std::to_string(id)); }

std::string kafka_cluster::console_consume(const std::string& topic, int count,
                                           const std::string& further_arguments) {
  return control("console-consumer --topic " + shell_quoted(topic) +
                 " --from-beginning --timeout-ms 60000 --max-messages " + std::to_string(count) +
                 " " + further_arguments);
}

std::string kafka_cluster::control(const std::string& arguments) {
  const command_result result = run(arguments);
  if (result.exit_code != 0) {
    std::fprintf(stderr, "kafka_cluster %s: exit code %d\n%s\n", arguments.c_str(),
                 result.exit_code, result.output.c_str());
    std::abort();
  }
  return result.output;
}

bool kafka_cluster::attempt(const std::string& arguments) { return run(arguments).exit_code == 0; }

command_result kafka_cluster::run(const std::string& arguments) const {
  return run_command(shell_quoted(script) + " -d " + shell_quoted(directory_) + " " + arguments);
}

}  // namespace partita::testing
