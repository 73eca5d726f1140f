// Options that take a whole number, and say so when they get something else.
//
// Invariants
// 1. What is refused is told with the option's name, the value, and the range.
//
// Threads: one.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace partita::cli {

struct number_range {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

/// Throws CLI::ValidationError for a text that is no number of the range.
[[nodiscard]] std::uint64_t read_number(const std::string& option, const std::string& text,
                                        number_range range);
/// The range as help shows it.
[[nodiscard]] std::string shown(number_range range);

/// Sets what `into` refers to, which is not negative; `into` must outlive the parsing.
template <class Number>
CLI::Option* add_number_option(CLI::App& command, const std::string& names, Number& into,
                               number_range range, const std::string& description) {
  const std::string option = names.substr(names.rfind(',') + 1);
  return command
      .add_option_function<std::string>(
          names,
          [&into, option, range](const std::string& text) {
            into = static_cast<Number>(read_number(option, text, range));
          },
          description)
      ->type_name(shown(range));
}

}  // namespace partita::cli
