// `partita doctor`: what stands between this machine and a delivered record, one verdict per step.
// No record is written.
//
// Threads: one.
#pragma once

namespace CLI {
class App;
}

namespace partita::cli {

void add_doctor_command(CLI::App& app, int& exit_code);

}  // namespace partita::cli
