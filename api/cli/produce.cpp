#include "api/cli/produce.hpp"

#include "api/cli/dead_letter_file.hpp"
#include "api/cli/produce_options.hpp"
#include "api/cli/produce_run.hpp"
#include "api/cli/standard_output.hpp"

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

exit_code fail_with_help(progress_display& display, const std::string& reason) {
  return fail(display, reason + "\n" + help_of("produce"));
}

/// What a user of the program can do about a halt: nobody recovers anything here.
void say_what_halts_mean(progress_display& display, const run_summary& summary, bool letters_kept) {
  if (!summary.ledger.halted) return;
  display.say(
      std::string("partita: a failed record holds back what comes after it in its partition, or "
                  "after it with its key; ") +
      (letters_kept ? "a second run of the file of --dlq can bring it in order"
                    : "--dlq FILE keeps what was not delivered for a second run, --on-error skip "
                      "goes on without it"));
}

exit_code produce(const produce_options& options) {
  outlive_readers();
  progress_display display(options.connection.quiet ? progress_display::mode::silent
                                                    : progress_display::suitable());
  if (const std::string reason = check(options); !reason.empty())
    return fail_with_help(display, reason);
  producer_config config;
  // Not the library's default: lines of a file often have no keys, and their order counts all the
  // same. Nor does anybody recover a key here, so what fails ends the run for its partition.
  // Where failed records are kept, the others need not wait for them.
  config.on_failure =
      options.dead_letters.empty() ? failure_policy::halt_partition : failure_policy::skip;
  if (const std::string reason = load_config(options.connection, config, display); !reason.empty())
    return config.bootstrap_servers.empty() ? fail_with_help(display, reason)
                                            : fail(display, reason);
  log_to(config, display);
  input_file input;
  if (const std::error_code error = input.open(options.file))
    return fail(display, (options.file.empty() ? "stdin" : options.file) + ": " + error.message());

  dead_letter_file letters;
  if (!options.dead_letters.empty()) {
    if (input.is(options.dead_letters))
      return fail(display, "--dlq " + options.dead_letters +
                               " is what is read: the dead letters need another file");
    if (const std::string reason = letters.open(options.dead_letters); !reason.empty())
      return fail(display, reason);
    if (letters.torn_bytes() > 0)
      display.say("partita: note: " + options.dead_letters + ": cut off a torn last line of " +
                  std::to_string(letters.torn_bytes()) + " bytes");
  }

  produce_run run(options, input, letters, display);
  const run_summary summary = run.run(config);
  if (!summary.unreachable.empty())
    display.say("partita: cluster unreachable: " + summary.unreachable);
  if (summary.first_failed_line != 0)
    display.say("partita: " + input.name() + ":" + std::to_string(summary.first_failed_line) +
                " is the first record that was not delivered");
  say_what_halts_mean(display, summary, letters.is_open());
  if (options.json_summary)
    std::cout << summary_json(summary);
  else if (!options.connection.quiet)
    std::cout << summary_text(summary, options.connection.verbosity > 0);
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
