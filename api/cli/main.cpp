// The program partita.
#include "api/cli/check.hpp"
#include "api/cli/cluster.hpp"
#include "api/cli/command_line.hpp"
#include "api/cli/demo.hpp"
#include "api/cli/doctor.hpp"
#include "api/cli/drive.hpp"
#include "api/cli/exit_code.hpp"
#include "api/cli/printable.hpp"
#include "api/cli/produce.hpp"
#include "api/cli/standard_output.hpp"

#include <partita/version.hpp>

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

// A standard stream that is closed would give its number to the next socket, and what is printed
// would go to a broker. Opened the wrong way round, reading and writing still fail.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int refuse_usage(CLI::App& app, const std::string& why) {
  std::cerr << "partita: " << partita::cli::printable_message(why) << "\n`"
            << partita::cli::command_in_use(app) << " --help` says what there is.\n";
  return static_cast<int>(partita::cli::exit_code::usage);
}

int ended_with(int code) {
  return static_cast<int>(
      partita::cli::with_output_written(static_cast<partita::cli::exit_code>(code)));
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  using partita::cli::exit_code;
  int code = static_cast<int>(exit_code::ok);
  CLI::App app("Produces to Apache Kafka, and serves embedded brokers for tests", "partita");
  app.set_version_flag("--version", "partita " PARTITA_VERSION_STRING);
  app.require_subcommand(1);
  // Commands have it from here. An option that takes several values keeps them all.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.footer("`partita COMMAND --help`, or `partita help COMMAND`, has the options of a command.");
  try {
    partita::cli::add_produce_command(app, code);
    partita::cli::add_cluster_command(app, code);
    partita::cli::add_drive_command(app, code);
    partita::cli::add_check_command(app, code);
    partita::cli::add_doctor_command(app, code);
    partita::cli::add_demo_command(app, code);
    std::vector<std::string> words = partita::cli::with_help_as_option(argc, argv);
    if (const std::string why = partita::cli::unknown_command(app, words); !why.empty())
      return refuse_usage(app, why);
    std::reverse(words.begin(), words.end());  // as the parser takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    // Help and version end here too, with 0.
    if (error.get_exit_code() != 0) return refuse_usage(app, partita::cli::explain(app, error));
    app.exit(error, std::cout, std::cerr);
    return ended_with(static_cast<int>(exit_code::ok));
  } catch (const std::exception& error) {
    std::cerr << "partita: " << partita::cli::printable_message(error.what()) << '\n';
    return static_cast<int>(exit_code::usage);
  }
  return ended_with(code);
}
