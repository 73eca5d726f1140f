#include "api/cli/cluster.hpp"

#include <partita/testing/cluster.hpp>
#include <partita/testing/log_reader.hpp>

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

namespace partita::cli {
namespace {

struct serve_arguments {
  int brokers = 3;
  std::vector<std::string> topics;  // name:partitions[:replication]
  std::uint16_t port = 19092;
  std::uint64_t seed = 1;
  bool auto_create = true;
};

struct log_arguments {
  std::string bootstrap;
  std::string topic;
  int partition = -1;
};

bool read_topic(const std::string& text, std::string& name, testing::topic_options& options) {
  const auto parts = CLI::detail::split(text, ':');
  if (parts.empty() || parts.size() > 3 || parts[0].empty()) return false;
  name = parts[0];
  return (parts.size() < 2 || CLI::detail::lexical_cast(parts[1], options.partitions)) &&
         (parts.size() < 3 || CLI::detail::lexical_cast(parts[2], options.replication));
}

// Signals are taken by sigwait, so that no handler runs beside the broker's thread.
sigset_t block_stop_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  return wanted;
}

int serve(const serve_arguments& arguments) {
  testing::cluster_options options;
  options.brokers = arguments.brokers;
  options.seed = arguments.seed;
  options.auto_create_topics = arguments.auto_create;
  const auto stop_signals = block_stop_signals();
  testing::loopback_cluster cluster{options, arguments.port};
  if (const auto error = cluster.listening()) {
    std::fprintf(stderr, "can not listen from port %u on: %s\n", unsigned{arguments.port},
                 error.message().c_str());
    return 1;
  }
  for (const auto& text : arguments.topics) {
    std::string name;
    testing::topic_options topic;
    if (!read_topic(text, name, topic)) {
      std::fprintf(stderr, "%s is not NAME[:PARTITIONS[:REPLICATION]]\n", text.c_str());
      return 2;
    }
    if (const auto code = cluster.create_topic(name, topic); code != broker_errc::none) {
      std::fprintf(stderr, "topic %s: %s\n", name.c_str(), make_error_code(code).message().c_str());
      return 1;
    }
  }
  std::printf("bootstrap.servers=%s\n", cluster.bootstrap().c_str());
  for (const auto& name : cluster.topics()) {
    int partitions = 0;
    while (cluster.view(name, partitions)) ++partitions;
    std::printf("topic %s: %d partitions\n", name.c_str(), partitions);
  }
  std::fflush(stdout);
  int received = 0;
  sigwait(&stop_signals, &received);
  return 0;
}

// Bytes that a terminal could not show, and the separators of the line, as \xNN.
std::string printable(const std::optional<std::string>& text) {
  if (!text) return "null";
  std::string shown;
  for (const char c : *text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '\\') {
      shown += c;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", unsigned{byte});
      shown += escaped;
    }
  }
  return shown;
}

void print(partition_id partition, const testing::log_record& record) {
  std::printf("%d\t%lld\t%lld\t%d\t%d\t%s\t%s\n", partition.value,
              static_cast<long long>(record.offset.value),
              static_cast<long long>(record.producer_id.value), int{record.producer_epoch.value},
              record.sequence.value, printable(record.key).c_str(),
              printable(record.value).c_str());
}

int show_log(const log_arguments& arguments) {
  testing::log_reader reader{arguments.bootstrap};
  std::vector<partition_id> partitions;
  const auto failed = [](const testing::read_end& end) {
    std::fprintf(stderr, "%s\n", end.text.c_str());
    return 1;
  };
  if (arguments.partition >= 0) {
    partitions.emplace_back(arguments.partition);
  } else if (const auto end = reader.partitions(arguments.topic, partitions); !end.ok()) {
    return failed(end);
  }
  std::printf("partition\toffset\tproducer id\tepoch\tsequence\tkey\tvalue\n");
  for (const auto partition : partitions) {
    const auto end = reader.read(arguments.topic, partition,
                                 [&](const auto& record) { print(partition, record); });
    if (!end.ok()) return failed(end);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

void add_cluster_command(CLI::App& app, int& exit_code) {
  auto* cluster = app.add_subcommand("cluster", "Run simulated brokers on loopback ports");
  auto serving = std::make_shared<serve_arguments>();
  cluster->add_option("--brokers", serving->brokers, "How many brokers")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  cluster->add_option("--topic", serving->topics, "NAME[:PARTITIONS[:REPLICATION]], repeatable");
  cluster->add_option("--port", serving->port, "Port of the first broker; 0 takes free ones")
      ->capture_default_str();
  cluster->add_option("--seed", serving->seed, "Seed of ids and faults")->capture_default_str();
  cluster->add_flag("!--no-auto-create", serving->auto_create, "Do not create topics on demand");

  auto* log =
      cluster->add_subcommand("log", "Print the records of a topic with their batch's stamp");
  auto reading = std::make_shared<log_arguments>();
  log->add_option("--bootstrap", reading->bootstrap, "HOST:PORT of any broker")->required();
  log->add_option("--topic", reading->topic, "Topic")->required();
  log->add_option("--partition", reading->partition, "One partition only");

  // A parent's callback runs too when its subcommand was given.
  cluster->callback([cluster, log, serving, &exit_code] {
    if (!cluster->got_subcommand(log)) exit_code = serve(*serving);
  });
  log->callback([reading, &exit_code] { exit_code = show_log(*reading); });
}

}  // namespace partita::cli
