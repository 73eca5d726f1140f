#include "bench/compare/cluster.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace partita::bench {

cluster::cluster(const std::string& directory, words options)
    : statistics_("/tmp/partita-bench-" + std::to_string(::getpid()) + "-" +
                  std::to_string(next_++)) {
  options.insert(options.begin(), directory + "/null_broker");
  options.insert(options.end(), {"--statistics", statistics_});
  child_ = start(options, from_child_);
  if (child_ < 0) return;
  char piece[4096];
  const ssize_t got = ::read(from_child_, piece, sizeof piece);
  const std::string line(piece, got > 0 ? static_cast<std::size_t>(got) : 0);
  if (line.starts_with("bootstrap ")) bootstrap_ = line.substr(10, line.find('\n') - 10);
  counters_ = map_statistics(statistics_.c_str(), false);
}

cluster::cluster(std::string bootstrap) : bootstrap_(std::move(bootstrap)) {}

cluster::~cluster() {
  if (child_ < 0) return;
  ::kill(child_, SIGTERM);
  ::waitpid(child_, nullptr, 0);
  ::close(from_child_);
  if (counters_ != nullptr) ::munmap(counters_, sizeof *counters_);
  ::unlink(statistics_.c_str());
}

words cluster::options() const {
  if (statistics_.empty()) return {"--bootstrap", bootstrap_};
  return {"--bootstrap", bootstrap_, "--statistics", statistics_};
}

}  // namespace partita::bench
