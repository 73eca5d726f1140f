// What the program says to a command line that it does not understand.
//
// Threads: one.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace partita::cli {

/// Why the words in front of all options name no command; empty when they do, or when there are
/// none.
[[nodiscard]] std::string unknown_command(CLI::App& app, int argc, const char* const* argv);

/// One line for people, with the nearest option where an unknown one is at fault.
[[nodiscard]] std::string explain(CLI::App& app, const CLI::ParseError& error);

/// "partita produce", as far as the command line was understood.
[[nodiscard]] std::string command_in_use(CLI::App& app);

}  // namespace partita::cli
