// What the program says to a command line that it does not understand.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace partita::cli {

/// Why the words in front of all options name no command; empty when they do, or when there are
/// none.
[[nodiscard]] std::string unknown_command(CLI::App& app, const std::vector<std::string>& words);

/// What follows the program's name; `help produce` is `produce --help`.
[[nodiscard]] std::vector<std::string> with_help_as_option(int argc, const char* const* argv);

/// One line for people, with the nearest option where an unknown one is at fault.
[[nodiscard]] std::string explain(CLI::App& app, const CLI::ParseError& error);

/// "partita produce", as far as the command line was understood.
[[nodiscard]] std::string command_in_use(CLI::App& app);

}  // namespace partita::cli
