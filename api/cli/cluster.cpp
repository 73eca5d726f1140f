#include "api/cli/cluster.hpp"

#include "api/cli/connection_options.hpp"
#include "api/cli/control_channel.hpp"
#include "api/cli/exit_code.hpp"
#include "api/cli/number_option.hpp"
#include "api/cli/printable.hpp"
#include "api/cli/standard_output.hpp"

#include <partita/testing/cluster.hpp>
#include <partita/testing/log_reader.hpp>

#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include <sys/signalfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::cli {
namespace {

struct serve_arguments {
  int brokers = 3;
  std::vector<std::string> topics;  // name:partitions[:replication]
  std::uint16_t port = 19092;
  std::uint64_t seed = 1;
  bool no_auto_create = false;
  std::string emulate = "4.4.0";
  int expiration_check_ms = 600'000;
  int control_port = -1;
  bool control_input = false;
};

struct log_arguments {
  std::string bootstrap;
  std::string topic;
  int partition = -1;
};

struct tell_arguments {
  std::string control;
  std::vector<std::string> words;
};

constexpr int port_max = 65'535;
constexpr number_range port_range{0, port_max};
constexpr const char* no_control =
    "no control of a cluster answers there: take what `partita cluster --control-port` printed";
/// Longer than a broker takes that is there.
constexpr std::chrono::seconds answer_limit{10};
constexpr std::uint64_t most_of_an_int = std::numeric_limits<std::int32_t>::max();

int ends_with(exit_code value) { return static_cast<int>(value); }

int fail(exit_code value, const std::string& why) {
  std::fprintf(stderr, "partita: %s\n", printable_message(why).c_str());
  return ends_with(value);
}

int refuse(const std::string& why) { return fail(exit_code::usage, why); }

bool read_topic(const std::string& text, std::string& name, testing::topic_options& options) {
  const auto parts = CLI::detail::split(text, ':');
  if (parts.empty() || parts.size() > 3 || parts[0].empty()) return false;
  name = parts[0];
  return (parts.size() < 2 || CLI::detail::lexical_cast(parts[1], options.partitions)) &&
         (parts.size() < 3 || CLI::detail::lexical_cast(parts[2], options.replication));
}

// "4.4" and "4.4.1" mean the same.
bool read_version(const std::string& text, testing::emulation& version) {
  using testing::emulation;
  constexpr std::pair<std::string_view, emulation> known[] = {{"2.4", emulation::kafka_2_4},
                                                              {"3.9", emulation::kafka_3_9},
                                                              {"4.2", emulation::kafka_4_2},
                                                              {"4.4", emulation::kafka_4_4},
                                                              {"4.5", emulation::kafka_4_5}};
  for (const auto& [name, value] : known)
    if (text == name || text.starts_with(std::string{name} + '.')) {
      version = value;
      return true;
    }
  return false;
}

// Signals are read from a descriptor, so that no handler runs beside the broker's thread.
int open_stop_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  return signalfd(-1, &wanted, SFD_CLOEXEC);
}

/// Empty: all were made.
std::string create_topics(
    testing::cluster& cluster,
    const std::vector<std::pair<std::string, testing::topic_options>>& topics) {
  for (const auto& [name, options] : topics)
    if (const auto code = cluster.create_topic(name, options); code != broker_errc::none)
      return "topic " + name + ": " + make_error_code(code).message();
  return {};
}

void announce(const testing::loopback_cluster& cluster, const control_channel& control) {
  std::printf("bootstrap.servers=%s\n", cluster.bootstrap().c_str());
  if (control.port() != 0) std::printf("control=127.0.0.1:%u\n", unsigned{control.port()});
  for (const auto& name : cluster.topics()) {
    int partitions = 0;
    while (cluster.view(name, partitions)) ++partitions;
    std::printf("topic %s: %d partitions\n", name.c_str(), partitions);
  }
}

/// The brokers take their ports in order, and the first that gets none ends that.
std::string first_without_port(const testing::loopback_cluster& cluster,
                               const serve_arguments& arguments) {
  int index = 0;
  while (index + 1 < arguments.brokers && cluster.port(broker_id{index + 1}) != 0) ++index;
  if (arguments.port == 0) return "a free port";
  return "port " + std::to_string(arguments.port + index) + ", that of broker " +
         std::to_string(index + 1) + " of " + std::to_string(arguments.brokers);
}

int serve(const serve_arguments& arguments) {
  testing::cluster_options options;
  options.brokers = arguments.brokers;
  options.seed = arguments.seed;
  options.auto_create_topics = !arguments.no_auto_create;
  options.producer_expiration_check = std::chrono::milliseconds{arguments.expiration_check_ms};
  if (!read_version(arguments.emulate, options.version))
    return refuse("--emulate " + arguments.emulate + ": known are 2.4, 3.9, 4.2, 4.4 and 4.5");
  if (arguments.port + arguments.brokers - 1 > port_max && arguments.port != 0)
    return refuse("--port " + std::to_string(arguments.port) + ": " +
                  std::to_string(arguments.brokers) + " brokers take ports up to " +
                  std::to_string(arguments.port + arguments.brokers - 1) + ", and the last is " +
                  std::to_string(port_max));
  std::vector<std::pair<std::string, testing::topic_options>> topics;
  for (const auto& text : arguments.topics) {
    auto& [name, topic] = topics.emplace_back();
    if (!read_topic(text, name, topic))
      return refuse("--topic: '" + text + "' is not NAME[:PARTITIONS[:REPLICATION]]");
  }
  const int stop_signals = open_stop_signals();
  testing::loopback_cluster cluster{options, arguments.port};
  if (const auto error = cluster.listening())
    return refuse("can not listen on " + first_without_port(cluster, arguments) + ": " +
                  error.message());
  if (const std::string why = create_topics(cluster, topics); !why.empty()) return refuse(why);
  control_channel control{cluster};
  if (arguments.control_port >= 0)
    if (const auto error = control.listen(static_cast<std::uint16_t>(arguments.control_port)))
      return refuse("can not listen on control port " + std::to_string(arguments.control_port) +
                    ": " + error.message());
  if (arguments.control_input) control.read_input();
  announce(cluster, control);
  // Who waits for these lines would wait for ever.
  if (!write_output_out()) return ends_with(exit_code::usage);
  control.serve(stop_signals);
  return ends_with(exit_code::ok);
}

// A line of JSON, or a command and a broker: `pause 2`.
int tell(const tell_arguments& arguments) {
  std::string line;
  const auto& words = arguments.words;
  if (words.size() == 1 && words[0].starts_with("{")) {
    line = words[0];
  } else {
    int broker = 0;
    nlohmann::json command{{"do", words[0]}};
    if (words.size() > 2 || (words.size() == 2 && !CLI::detail::lexical_cast(words[1], broker)))
      return refuse("a command is one JSON object, or COMMAND [BROKER]");
    if (words.size() == 2) command["broker"] = broker;
    line = command.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::string answer;
  if (const auto error = send_command(arguments.control, line, answer)) {
    if (error == std::errc::invalid_argument)
      return refuse("--control: '" + arguments.control +
                    "' is not ADDRESS:PORT, as 127.0.0.1:29300");
    if (error == std::errc::timed_out || error == std::errc::connection_reset)
      return fail(exit_code::unreachable, arguments.control + ": " + no_control);
    return fail(exit_code::unreachable, arguments.control + ": " + error.message());
  }
  const auto said = nlohmann::json::parse(answer, nullptr, false);
  if (!said.is_object() || !said.contains("ok"))
    return fail(exit_code::unreachable, arguments.control + ": " + no_control);
  std::printf("%s\n", answer.c_str());
  return ends_with(said["ok"] == true ? exit_code::ok : exit_code::usage);
}

// Bytes that a terminal could not show, and separators, as \xNN; so `\N` can only mean null.
std::string printable(const std::optional<std::string>& text, std::string_view separators = {}) {
  if (!text) return "\\N";
  std::string shown;
  for (const char c : *text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '\\' && separators.find(c) == separators.npos) {
      shown += c;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", unsigned{byte});
      shown += escaped;
    }
  }
  return shown;
}

std::string printable(const std::vector<owned_header>& headers) {
  std::string shown;
  for (const owned_header& each : headers)
    shown +=
        (shown.empty() ? "" : ",") + printable(each.key, ",=") + "=" + printable(each.value, ",=");
  return shown;
}

void print(partition_id partition, const testing::log_record& record) {
  std::printf("%d\t%lld\t%lld\t%d\t%d\t%s\t%s\t%lld\t%s\n", partition.value,
              static_cast<long long>(record.offset.value),
              static_cast<long long>(record.producer_id.value), int{record.producer_epoch.value},
              record.sequence.value, printable(record.key).c_str(), printable(record.value).c_str(),
              static_cast<long long>(record.timestamp.time_since_epoch().count()),
              printable(record.headers).c_str());
}

int show_log(const log_arguments& arguments) {
  testing::log_reader reader{arguments.bootstrap, answer_limit};
  std::vector<partition_id> partitions;
  const auto failed = [](const testing::read_end& end) {
    return fail(is_unreachable(end.error) ? exit_code::unreachable : exit_code::usage, end.text);
  };
  if (const auto end = reader.partitions(arguments.topic, partitions); !end.ok())
    return failed(end);
  if (arguments.partition >= 0) {
    const std::size_t count = partitions.size();
    std::erase_if(partitions, [&](partition_id each) { return each.value != arguments.partition; });
    if (partitions.empty())
      return refuse("topic " + arguments.topic + " has no partition " +
                    std::to_string(arguments.partition) + ", it has " + std::to_string(count));
  }
  std::printf("partition\toffset\tproducer id\tepoch\tsequence\tkey\tvalue\ttimestamp\theaders\n");
  for (const auto partition : partitions) {
    const auto end = reader.read(arguments.topic, partition,
                                 [&](const auto& record) { print(partition, record); });
    if (!end.ok()) return failed(end);
  }
  return ends_with(exit_code::ok);
}

}  // namespace

void add_cluster_command(CLI::App& app, int& exit_code) {
  auto* cluster = app.add_subcommand("cluster", "Run simulated brokers on loopback ports");
  auto serving = std::make_shared<serve_arguments>();
  add_number_option(*cluster, "--brokers", serving->brokers, {1, 100}, "How many brokers")
      ->default_str("3");
  cluster->add_option("-t,--topic", serving->topics, "NAME[:PARTITIONS[:REPLICATION]], repeatable");
  add_number_option(*cluster, "--port", serving->port, port_range,
                    "Port of the first broker; 0 takes free ones")
      ->default_str("19092");
  add_number_option(*cluster, "--seed", serving->seed,
                    {0, std::numeric_limits<std::uint64_t>::max()}, "Seed of ids and faults")
      ->default_str("1");
  cluster->add_option("--emulate", serving->emulate, "Version of Kafka whose rules are followed")
      ->capture_default_str();
  add_number_option(*cluster, "--producer-id-expiration-check-interval-ms",
                    serving->expiration_check_ms, {1, most_of_an_int},
                    "How often forgotten producers are looked for")
      ->default_str("600000");
  add_number_option(*cluster, "--control-port", serving->control_port, port_range,
                    "Take commands on this loopback port; 0 takes a free one");
  cluster->add_flag("--control-stdin", serving->control_input,
                    "Take commands from standard input, one JSON object a line");
  cluster->add_flag("--no-auto-create", serving->no_auto_create, "Do not create topics on demand");

  auto* log =
      cluster->add_subcommand("log", "Print the records of a topic with their batch's stamp");
  auto reading = std::make_shared<log_arguments>();
  add_bootstrap_option(*log, reading->bootstrap);
  log->add_option("-t,--topic", reading->topic, "Topic")->required();
  add_number_option(*log, "-p,--partition", reading->partition, {0, most_of_an_int},
                    "One partition only");

  auto* told = cluster->add_subcommand("tell", "Send a command to a cluster with --control-port");
  auto telling = std::make_shared<tell_arguments>();
  told->add_option("--control", telling->control, "ADDRESS:PORT of its control")->required();
  told->add_option("command", telling->words, "A JSON object, or COMMAND [BROKER]")->required();

  // A parent's callback runs too when its subcommand was given.
  cluster->callback([cluster, log, told, serving, &exit_code] {
    if (!cluster->got_subcommand(log) && !cluster->got_subcommand(told))
      exit_code = serve(*serving);
  });
  log->callback([reading, &exit_code] { exit_code = show_log(*reading); });
  told->callback([telling, &exit_code] { exit_code = tell(*telling); });
}

}  // namespace partita::cli
