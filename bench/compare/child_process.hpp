// The measured programs as processes, so that their CPU time is their own.
//
// Threads: one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace partita::bench {

/// What a program told by lines "NAME VALUE".
using values = std::map<std::string, double>;
using words = std::vector<std::string>;

struct finished {
  bool good = false;
  std::string output;
  double cpu_seconds = 0;
};

/// Starts a program whose stdout comes through a pipe; it is ended after so many seconds, if any.
pid_t start(words command, int& from_child, const std::string& preload = {},
            unsigned seconds_max = 0);
/// Runs one to its end, or ends it.
finished run(const words& command, const std::string& preload = {}, unsigned seconds_max = 120);
[[nodiscard]] values parse(const std::string& text);
[[nodiscard]] words split(const std::string& text, char separator);

}  // namespace partita::bench
