#include "bench/compare/child_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace partita::bench {
namespace {

std::vector<char*> pointers(words& command) {
  std::vector<char*> all;
  for (std::string& word : command) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

pid_t start(words command, int& from_child, const std::string& preload, unsigned seconds_max) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    if (!preload.empty()) ::setenv("LD_PRELOAD", preload.c_str(), 1);
    ::alarm(seconds_max);
    ::execvp(command[0].c_str(), pointers(command).data());
    std::perror(command[0].c_str());
    ::_exit(127);
  }
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  from_child = ends[0];
  return child;
}

finished run(const words& command, const std::string& preload, unsigned seconds_max) {
  finished result;
  int from_child = -1;
  const pid_t child = start(command, from_child, preload, seconds_max);
  if (child < 0) return result;
  char piece[4096];
  for (ssize_t got; (got = ::read(from_child, piece, sizeof piece)) > 0;)
    result.output.append(piece, static_cast<std::size_t>(got));
  ::close(from_child);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  result.good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  result.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return result;
}

words split(const std::string& text, char separator) {
  words found;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

values parse(const std::string& text) {
  values found;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos)
      found[line.substr(0, space)] = std::strtod(line.c_str() + space + 1, nullptr);
  }
  return found;
}

}  // namespace partita::bench
