// A cluster of real Apache Kafka brokers on loopback, for tests: the C++ side of kafka_cluster.sh.
//
// Invariants
// 1. A constructed cluster answers on all its brokers; they end, and what they wrote is deleted,
//    with the object, or with this process if it dies first.
// 2. Where Kafka can not run (no java, no kcat, nothing in the cache and no way to fetch it), the
//    caller learns why before anything starts.
// Threads: any for different brokers and topics; for the same one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {

struct kafka_options {
  std::string version = "4.4.0";
  int brokers = 1;
  std::vector<std::string> settings{};  ///< "key=value", on top of the script's
  bool proxied = false;                 ///< a second listener, whose addresses are a proxy's
};

/// What a command printed and how it ended.
struct command_result {
  int exit_code = -1;
  std::string output;
};

/// Runs a command line by the shell and collects its standard output.
command_result run_command(const std::string& command_line);

/// `text` as one word of a shell command line.
std::string shell_quoted(const std::string& text);

/// The leader of each partition, as kcat lists the topic's metadata; -1: none.
std::map<std::int32_t, int> leaders_of(const std::string& bootstrap, const std::string& topic);

class kafka_cluster {
 public:
  /// Why no cluster of this version can be had here; absent when it can. Fetches what is missing.
  static std::optional<std::string> unavailable(const std::string& version);

  /// Ends the test program with the script's words if the brokers do not come up.
  explicit kafka_cluster(const kafka_options& options);
  ~kafka_cluster();
  kafka_cluster(const kafka_cluster&) = delete;
  kafka_cluster& operator=(const kafka_cluster&) = delete;

  const std::string& bootstrap() const { return bootstrap_; }
  const std::string& version() const { return options_.version; }
  /// Of broker `id` from 1: its own, the one behind the proxy, and the proxy's.
  std::uint16_t port(int id) const;
  std::uint16_t proxied_port(int id) const { return static_cast<std::uint16_t>(port(id) + 20); }
  std::uint16_t proxy_port(int id) const { return static_cast<std::uint16_t>(port(id) + 30); }

  /// Returns when every broker knows it and its leaders. `configs` as "key=value" of Kafka's topic
  /// configuration.
  void create_topic(const std::string& name, int partitions, int replicas,
                    const std::vector<std::string>& configs = {});
  void delete_topic(const std::string& name);

  // Brokers are numbered from 1. Each call returns when it is done: the process is gone or answers.
  void kill_broker(int id);
  void stop_broker(int id);
  void restart_broker(int id);
  void pause_broker(int id);
  void continue_broker(int id);

  /// Kafka's own console consumer, from the beginning, until `count` records were read; its output.
  std::string console_consume(const std::string& topic, int count,
                              const std::string& further_arguments = "");

  /// The script's command with these arguments (already quoted); fails the program if it fails.
  std::string control(const std::string& arguments);
  /// The same where it may fail; false if it did.
  bool attempt(const std::string& arguments);

 private:
  command_result run(const std::string& arguments) const;
  void await_leaders(int id, const std::string& topic, int partitions);

  const kafka_options options_;
  const std::string directory_;
  std::string bootstrap_;
};

}  // namespace partita::testing
