#include "api/cli/produce.hpp"

#include "api/cli/produce_options.hpp"
#include "api/cli/produce_run.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace partita::cli {
namespace {

exit_code fail(progress_display& display, const std::string& reason) {
  display.say("partita: " + reason);
  return exit_code::usage;
}

exit_code produce(const produce_options& options) {
  progress_display display(options.connection.quiet ? progress_display::mode::silent
                                                    : progress_display::suitable());
  if (const std::string reason = check(options); !reason.empty()) return fail(display, reason);
  producer_config config;
  // As --on-error says. Lines of a file often have no keys, and their order counts all the same.
  config.on_failure = failure_policy::halt_partition;
  if (const std::string reason = load_config(options.connection, config, display); !reason.empty())
    return fail(display, reason);
  log_to(config, display);
  input_file input;
  if (const std::error_code error = input.open(options.file))
    return fail(display, (options.file.empty() ? "stdin" : options.file) + ": " + error.message());

  produce_run run(options, input, display);
  const run_summary summary = run.run(config);
  if (!summary.unreachable.empty())
    display.say("partita: cluster unreachable: " + summary.unreachable);
  if (options.json_summary)
    std::cout << summary_json(summary) << std::flush;
  else if (!options.connection.quiet)
    std::cout << summary_text(summary, options.connection.verbosity > 0) << std::flush;
  return summary.exit_code;
}

}  // namespace

void add_produce_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("produce", "Produces records from a file or standard input");
  auto options = std::make_shared<produce_options>();
  add_produce_options(*command, *options);
  command->callback([options, &exit_code] { exit_code = static_cast<int>(produce(*options)); });
}

}  // namespace partita::cli
