// Settings as text: the keys of Kafka's Java clients and of librdkafka, .properties files, and the
// environment. Everything ends in a producer_config; validate() has the last word.
//
// Later calls win over earlier ones, so precedence is the order of the calls:
//
//     partita::producer_config config;
//     partita::config_report report;
//     if (auto error = load_properties_file(config, "client.properties", &report)) ...
//     if (auto error = load_environment(config, &report)) ...
//     if (auto error = apply_property(config, "linger.ms", "20", "command line", &report)) ...
//
// Invariants
// 1. A call that returns an error has changed nothing.
// 2. Values of security keys and of unknown keys are never repeated in errors or notes.
// 3. `${env:NAME}` and `${file:path}` are expanded in files that the application names, and nowhere
//    else: a value that arrives over another way must not read files (CVE-2024-31141).
//
// Threads: no shared state; load_environment() reads the environment of the process.
#pragma once

#include <partita/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// Where the value of a key came from.
struct config_origin {
  std::string key{};     ///< canonical name
  std::string origin{};  ///< "client.properties:12", "environment KAFKA_LINGER_MS", "call", ...
  std::string alias{};   ///< the name it was given under, where that was another one
};

/// What loading had to say besides errors.
struct config_report {
  std::vector<std::string> notes{};  ///< one line each: keys that were ignored or mapped, and why
  std::vector<config_origin> origins{};  ///< the last one of each key
};

/// Sets one key. `origin` is repeated in errors and by describe().
config_error apply_property(producer_config& config, std::string_view key, std::string_view value,
                            std::string_view origin = "call", config_report* report = nullptr);

/// Applies text in the .properties grammar (comments, continuation lines, escapes). `name` is the
/// file's name as it shall appear in origins. References are not expanded.
config_error load_properties(producer_config& config, std::string_view text, std::string_view name,
                             config_report* report = nullptr);

/// Reads the file (UTF-8, at most 1 MiB), expands references, and applies it.
config_error load_properties_file(producer_config& config, const std::string& path,
                                  config_report* report = nullptr);

/// Applies `KAFKA_LINGER_MS` and the like: known keys in upper case with underscores. Other
/// variables named KAFKA_... are not ours to judge and are skipped.
config_error load_environment(producer_config& config, config_report* report = nullptr);

struct config_entry {
  std::string key{};
  std::string value{};
  std::string default_value{};
  std::string origin{};  ///< "default", "call" or as reported
  std::string alias{};   ///< the name it was given under, where that was another one
};

/// Every key with its value, in the order of docs/configuration.md.
[[nodiscard]] std::vector<config_entry> describe(const producer_config& config,
                                                 const config_report* report = nullptr);

}  // namespace partita
