// The subcommand `cluster`: simulated brokers on loopback ports, and a look into a topic's log.
//
// Threads: the main thread.
#pragma once

namespace CLI {
class App;
}

namespace partita::cli {

/// Adds `cluster` and `cluster log` to the program; `exit_code` is set when one of them ran.
void add_cluster_command(CLI::App& app, int& exit_code);

}  // namespace partita::cli
