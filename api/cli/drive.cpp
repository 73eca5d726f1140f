#include "api/cli/drive.hpp"

#include "api/cli/connection_options.hpp"
#include "api/cli/drive_run.hpp"
#include "api/cli/standard_output.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace partita::cli {
namespace {

constexpr const char* footer =
    R"(One JSON object a line
  {"do":"produce","name":"A","topic":"t","partition":0,"key":"k","value":"v",
   "headers":[["h","v"]],"timestamp":1764000000000,"deadline_ms":3000}
  {"do":"produce_batch","records":[{"name":"B","topic":"t","value":"v"}]}
  {"do":"await","name":"A","timeout_ms":5000}      also cancel, settle
  {"do":"flush","topic":"t","partition":0}         topic and partition may be left out
  {"do":"pause","topic":"t","partition":0,"abort_buffered":true}    also resume
  {"do":"recover","topic":"t","partition":0,"key":"k","how":"resubmit","allow_duplicates":false}
  {"do":"status"} {"do":"wait","ms":100} {"do":"close","deadline_ms":1000} {"do":"destroy"}

The next line goes on at once, except after "await", "wait" and "status", and where a command has
"await":true. Events come one a line: outcome, settled, halted, resumed, returned, flushed, closed,
status, error. docs/drive.md describes them. The end of the input closes the producer.)";

struct drive_options {
  connection_options connection;
  std::string file;
};

exit_code drive(const drive_options& options) {
  outlive_readers();
  progress_display display(progress_display::mode::silent);
  const auto fail = [&](const std::string& reason) {
    display.say("partita: " + reason);
    return exit_code::usage;
  };
  producer_config config;
  if (const std::string reason = load_config(options.connection, config, display); !reason.empty())
    return fail(config.bootstrap_servers.empty() ? reason + "\n" + help_of("drive") : reason);
  log_to(config, display);
  input_file input;
  if (const std::error_code error = input.open(options.file))
    return fail((options.file.empty() ? "stdin" : options.file) + ": " + error.message());
  drive_run run(input);
  const exit_code code = run.run(config);
  if (run.output_error())
    display.say("partita: the output can't be written: " + run.output_error().message());
  return code;
}

}  // namespace

void add_drive_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "drive", "Carries out JSON commands, and tells what happens, line by line");
  auto options = std::make_shared<drive_options>();
  add_connection_options(*command, options->connection);
  command->add_option("FILE", options->file, "script; default: standard input");
  command->footer(footer);
  command->callback([options, &exit_code] { exit_code = static_cast<int>(drive(*options)); });
}

}  // namespace partita::cli
