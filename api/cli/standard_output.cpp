#include "api/cli/standard_output.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <system_error>

namespace partita::cli {

bool write_output_out() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return true;
  const std::error_code why(errno != 0 ? errno : EIO, std::generic_category());
  std::cerr << "partita: the output can't be written: " << why.message() << '\n';
  return false;
}

void outlive_readers() noexcept { std::signal(SIGPIPE, SIG_IGN); }

exit_code with_output_written(exit_code code) {
  if (write_output_out() || code != exit_code::ok) return code;
  return exit_code::usage;
}

}  // namespace partita::cli
