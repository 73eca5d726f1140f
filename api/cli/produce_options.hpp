// The command line of `partita produce`.
#pragma once

#include "api/cli/connection_options.hpp"

#include <partita/record.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partita::cli {

enum class input_format : std::uint8_t { lines, jsonl };

struct produce_options {
  connection_options connection;
  std::string topic;
  bool topic_given = false;  ///< "" may have been
  std::string file;
  input_format format = input_format::lines;
  std::string record_delimiter = "\n";
  std::string key_delimiter;
  std::optional<std::string> fixed_key;
  std::vector<owned_header> headers;
  std::optional<std::int32_t> partition;
  std::uint64_t count = 0;  ///< 0: no limit
  bool empty_is_null = false;
  bool skip_bad_lines = false;
  bool json_summary = false;
  std::string dead_letters;  ///< a file's name
  std::int64_t interrupt_ms = 10'000;

  [[nodiscard]] std::chrono::milliseconds interrupt_timeout() const noexcept {
    return std::chrono::milliseconds(interrupt_ms);
  }
};

void add_produce_options(CLI::App& command, produce_options& into);
/// What the parser can't check by itself; empty, or one line for people.
[[nodiscard]] std::string check(const produce_options& options);

}  // namespace partita::cli
