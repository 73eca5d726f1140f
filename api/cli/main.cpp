// The program partita.
#include "api/cli/check.hpp"
#include "api/cli/cluster.hpp"
#include "api/cli/demo.hpp"
#include "api/cli/drive.hpp"
#include "api/cli/exit_code.hpp"
#include "api/cli/produce.hpp"

#include <partita/version.hpp>

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <iostream>

namespace {

// A standard stream that is closed would give its number to the next socket, and what is printed
// would go to a broker. Opened the wrong way round, reading and writing still fail.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  using partita::cli::exit_code;
  int code = static_cast<int>(exit_code::ok);
  CLI::App app("Produces to Apache Kafka, and serves embedded brokers for tests", "partita");
  app.set_version_flag("--version", "partita " PARTITA_VERSION_STRING);
  app.require_subcommand(1);
  app.footer("`partita COMMAND --help` has the options of a command.");
  try {
    partita::cli::add_produce_command(app, code);
    partita::cli::add_cluster_command(app, code);
    partita::cli::add_drive_command(app, code);
    partita::cli::add_check_command(app, code);
    partita::cli::add_demo_command(app, code);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version end here too, with 0.
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : static_cast<int>(exit_code::usage);
  } catch (const std::exception& error) {
    std::cerr << "partita: " << error.what() << '\n';
    return static_cast<int>(exit_code::usage);
  }
  return code;
}
