// The subcommand `partita demo`: produces a file, reads the log back and compares.
#pragma once

namespace CLI {
class App;
}

namespace partita::cli {

/// `exit_code` is set when the subcommand has run.
void add_demo_command(CLI::App& app, int& exit_code);

}  // namespace partita::cli
