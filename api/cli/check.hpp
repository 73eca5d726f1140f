// `partita check`: outcomes that a producer told, against what the brokers' logs hold.
//
// Threads: one.
#pragma once

namespace CLI {
class App;
}

namespace partita::cli {

void add_check_command(CLI::App& app, int& exit_code);

}  // namespace partita::cli
