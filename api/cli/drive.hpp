// The subcommand `partita drive`: a producer for tests in any language.
#pragma once

namespace CLI {
class App;
}

namespace partita::cli {

/// `exit_code` is set when the subcommand has run.
void add_drive_command(CLI::App& app, int& exit_code);

}  // namespace partita::cli
