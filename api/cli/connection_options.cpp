#include "api/cli/connection_options.hpp"

#include "api/cli/fitting_defaults.hpp"

#include <partita/properties.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

namespace partita::cli {
namespace {

/// Named by -F, else by PARTITA_CONFIG, else the user's own if there is one.
std::string file_to_load(const connection_options& options) {
  if (!options.config_file.empty()) return options.config_file;
  if (const char* named = std::getenv("PARTITA_CONFIG"); named != nullptr && *named != '\0')
    return named;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    std::string own = std::string(home) + "/.config/partita.conf";
    if (::access(own.c_str(), R_OK) == 0) return own;
  }
  return {};
}

std::string_view level_name(int level) noexcept {
  return level <= 3 ? "error" : level == 4 ? "warning" : level <= 6 ? "info" : "debug";
}

void write_log(void* context, int level, std::string_view line) {
  std::string text = "partita: ";
  text.append(level_name(level)).append(": ").append(line);
  static_cast<progress_display*>(context)->log(text);
}

/// Applies the options of the command line; see invariant 2.
std::string apply_settings(const std::vector<connection_options::setting>& settings,
                           producer_config& config, config_report& report) {
  struct applied {
    std::string value;  // as the configuration prints it
    const connection_options::setting* by;
  };
  std::map<std::string, applied> done;
  for (const connection_options::setting& each : settings) {
    config_report own;
    if (const config_error error = apply_property(config, each.key, each.value, each.origin, &own))
      return error.message();
    for (std::string& note : own.notes) report.notes.push_back(std::move(note));
    for (config_origin& origin : own.origins) {
      std::string value;
      for (config_entry& entry : describe(config))
        if (entry.key == origin.key) value = std::move(entry.value);
      const auto [known, fresh] = done.emplace(origin.key, applied{value, &each});
      const connection_options::setting& before = *known->second.by;
      const bool same_option = before.origin == each.origin && before.key == each.key;
      if (!fresh && !same_option && known->second.value != value)
        return before.origin + " (" + before.key + "=" + before.value + ") and " + each.origin +
               " (" + each.key + "=" + each.value + ") set one thing in two ways: give one of them";
      known->second = {value, &each};
      std::erase_if(report.origins,
                    [&](const config_origin& old) { return old.key == origin.key; });
      report.origins.push_back(std::move(origin));
    }
  }
  return {};
}

}  // namespace

void add_bootstrap_option(CLI::App& command, std::string& into) {
  command
      .add_option(bootstrap_names, into,
                  "HOST:PORT of any broker, several with commas; an IPv6 address in brackets, "
                  "[::1]:9092")
      ->envname("KAFKA_BOOTSTRAP_SERVERS")
      ->required()
      ->check([](const std::string& servers) {
        producer_config asks;
        asks.bootstrap_servers = servers;
        return validate(asks).message();
      });
}

void add_setting_option(CLI::App& command, connection_options& into, const std::string& names,
                        const std::string& key, const std::string& description) {
  const std::string origin = names.substr(0, names.find(','));
  command.add_option_function<std::string>(
      names,
      [&into, key, origin](const std::string& value) {
        into.settings.push_back({key, value, origin});
      },
      description);
}

void add_file_option(CLI::App& command, std::string& into, const std::string& description) {
  const auto read = [&into](const std::string& given) {
    if (!into.empty())
      throw CLI::ValidationError("FILE '" + into + "' and --file '" + given +
                                 "' are the same option: give one of them");
    into = given;
  };
  command.add_option_function<std::string>("FILE", read, description);
  command.add_option_function<std::string>("--file", read, "the same as FILE");
}

void add_connection_options(CLI::App& command, connection_options& into) {
  add_setting_option(command, into, bootstrap_names, "bootstrap.servers",
                     "brokers to start from: HOST:PORT,HOST:PORT...; an IPv6 address in brackets, "
                     "[::1]:9092; default: $KAFKA_BOOTSTRAP_SERVERS");
  command.add_option("-F,--config", into.config_file,
                     "configuration file in Kafka's format; default: $PARTITA_CONFIG, then "
                     "~/.config/partita.conf. KAFKA_LINGER_MS and the like come before it, options "
                     "before both");
  command
      .add_option_function<std::vector<std::string>>(
          "-X",
          [&into](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
              const std::size_t equals = pair.find('=');
              if (equals == std::string::npos)
                into.malformed.push_back(pair);
              else
                into.settings.push_back({pair.substr(0, equals), pair.substr(equals + 1), "-X"});
            }
          },
          "KEY=VALUE: any setting by Kafka's or librdkafka's name; repeatable")
      ->allow_extra_args(false);
  command.add_flag("-v,--verbose", into.verbosity, "say more; twice: the details of the protocol");
  command.add_flag("-q,--quiet", into.quiet, "say nothing but errors");
}

std::string load_config(const connection_options& options, producer_config& config,
                        progress_display& display) {
  if (!options.malformed.empty())
    return "-X takes KEY=VALUE, not '" + options.malformed.front() + "'";
  config.log_level = options.quiet            ? 3
                     : options.verbosity == 0 ? 4
                     : options.verbosity == 1 ? 6
                                              : 7;
  config_report report;
  if (const std::string file = file_to_load(options); !file.empty())
    if (const config_error error = load_properties_file(config, file, &report))
      return error.message();
  if (const config_error error = load_environment(config, &report)) return error.message();
  if (std::string error = apply_settings(options.settings, config, report); !error.empty())
    return error;
  if (config.bootstrap_servers.empty())
    return "no broker is named: -b HOST:PORT is required ($KAFKA_BOOTSTRAP_SERVERS, or "
           "bootstrap.servers in the file of -F, would do)";
  for (std::string& note : fit_defaults(config, report)) report.notes.push_back(std::move(note));
  if (const config_error error = validate(config)) return error.message();
  if (!options.quiet)
    for (const std::string& note : report.notes) display.say("partita: note: " + note);
  return {};
}

std::string wrong_topic(const std::string& name) {
  if (name.empty()) return "-t: the name of the topic is empty";
  producer_config asks;
  asks.bootstrap_servers = "localhost";
  asks.topics[name] = {};
  config_error wrong = validate(asks);
  wrong.key = "-t";
  return wrong.message();
}

std::string help_of(const std::string& command) {
  return "`partita " + command + " --help` says what there is.";
}

void log_to(producer_config& config, progress_display& display) {
  config.log = &write_log;
  config.log_context = &display;
}

}  // namespace partita::cli
