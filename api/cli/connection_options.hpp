// The options that every subcommand with a producer has, and the configuration they lead to.
//
// Invariants
// 1. Precedence: command line, then environment, then file.
// 2. Within the command line two options that set one key to different values are an error: which
//    of them was written last is no way to choose, and two names of one setting under -X are two
//    options. The same option twice: the later one wins.
//
// Threads: one.
#pragma once

#include "api/cli/progress.hpp"

#include <partita/config.hpp>

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace partita::cli {

struct connection_options {
  std::string config_file;
  /// Kafka's key, value, and the option that set it, in the order of the command line.
  struct setting {
    std::string key;
    std::string value;
    std::string origin;
  };
  std::vector<setting> settings;
  std::vector<std::string> malformed;  ///< arguments of -X without "="
  int verbosity = 0;
  bool quiet = false;
};

/// The brokers have these names in every command; the last is that of Kafka's own tools.
inline constexpr const char* bootstrap_names = "-b,--bootstrap,--bootstrap-server";
/// -b for a command without a producer: required, from the environment where it is not given.
void add_bootstrap_option(CLI::App& command, std::string& into);

/// -b, -F, -X, -q and -v. `into` must outlive the parsing.
void add_connection_options(CLI::App& command, connection_options& into);
/// What is read: FILE or --file, not both.
void add_file_option(CLI::App& command, std::string& into, const std::string& description);
/// An option that sets one key.
void add_setting_option(CLI::App& command, connection_options& into, const std::string& names,
                        const std::string& key, const std::string& description);

/// Fills `config`. An error is one line for people; notes go to `display`. Without any broker it
/// says how to name one, and `bootstrap_servers` stays empty.
[[nodiscard]] std::string load_config(const connection_options& options, producer_config& config,
                                      progress_display& display);

/// What is wrong with a topic's name that -t gave; empty where it may be one.
[[nodiscard]] std::string wrong_topic(const std::string& name);
/// Where to read on, for who left out what a command needs.
[[nodiscard]] std::string help_of(const std::string& command);

/// Log lines of the producer go to the display.
void log_to(producer_config& config, progress_display& display);

}  // namespace partita::cli
