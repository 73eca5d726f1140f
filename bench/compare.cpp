// Runs the measuring programs in interleaved rounds and prints the figures against their targets.
//
//     compare [--rounds N] [--only NAME] [--json FILE] [--records N] [--headers DIRECTORY]
//
// NAME: saturated, round_trip, pipelining, heap or compile. Every client is a process of its own,
// so that its CPU time is its own; the null broker is another and is not counted. A ratio is taken
// within a round, where both sides met the same machine; what is printed is the median with
// [min-max].
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::bench {
namespace {

using values = std::map<std::string, double>;

struct finished {
  bool good = false;
  std::string output;
  double cpu_seconds = 0;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Starts a program whose stdout comes through a pipe; it is ended after so many seconds, if any.
pid_t start(std::vector<std::string> words, int& from_child, const std::string& preload = {},
            unsigned limit = 0) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    if (!preload.empty()) ::setenv("LD_PRELOAD", preload.c_str(), 1);
    ::alarm(limit);
    ::execvp(words[0].c_str(), pointers(words).data());
    std::perror(words[0].c_str());
    ::_exit(127);
  }
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  from_child = ends[0];
  return child;
}

finished run(const std::vector<std::string>& words, const std::string& preload = {}) {
  finished result;
  int from_child = -1;
  // librdkafka 2.0.2 was seen to leave a record in its queue for ever, with linger.ms=0.
  const pid_t child = start(words, from_child, preload, 120);
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

values parse(const std::string& text) {
  values found;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t space = line.find(' ');
    if (space != std::string::npos)
      found[line.substr(0, space)] = std::strtod(line.c_str() + space + 1, nullptr);
    at = end + 1;
  }
  return found;
}

/// A null broker that ends with this object.
class broker {
 public:
  broker(const std::string& directory, std::vector<std::string> options)
      : statistics_("/tmp/partita-bench-" + std::to_string(::getpid()) + "-" +
                    std::to_string(next_++)) {
    options.insert(options.begin(), directory + "/null_broker");
    options.insert(options.end(), {"--statistics", statistics_});
    child_ = start(options, from_child_);
    char piece[4096];
    const ssize_t got = ::read(from_child_, piece, sizeof piece);
    std::string line(piece, got > 0 ? static_cast<std::size_t>(got) : 0);
    if (line.starts_with("bootstrap ")) bootstrap_ = line.substr(10, line.find('\n') - 10);
  }
  broker(const broker&) = delete;
  broker& operator=(const broker&) = delete;
  ~broker() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
    ::close(from_child_);
    ::unlink(statistics_.c_str());
  }
  [[nodiscard]] std::vector<std::string> options() const {
    return {"--bootstrap", bootstrap_, "--statistics", statistics_};
  }

 private:
  static inline int next_ = 0;
  std::string statistics_;
  std::string bootstrap_;
  pid_t child_ = -1;
  int from_child_ = -1;
};

struct figure {
  std::string name;
  std::string unit;
  double target = 0;  ///< 0: for information
  bool at_most = true;
  std::vector<double> samples;

  [[nodiscard]] double median() const {
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  [[nodiscard]] double least() const { return *std::min_element(samples.begin(), samples.end()); }
  [[nodiscard]] double most() const { return *std::max_element(samples.begin(), samples.end()); }
  [[nodiscard]] bool met() const { return at_most ? median() <= target : median() >= target; }
};

struct settings {
  int rounds = 5;
  std::string only;
  std::string json;
  std::string records = "2000000";
  std::string headers = "api";
  std::string directory;
};

class comparison {
 public:
  explicit comparison(settings options) : options_(std::move(options)) {}

  /// 0: all targets met; 1: not all; 2: something did not run.
  int run_all() {
    with_rdkafka_ = ::access(program("load_rdkafka").c_str(), X_OK) == 0;
    if (!with_rdkafka_) std::printf("librdkafka is missing: nothing to compare with\n");
    std::printf("%-48s %10s  %-24s %s\n", "", "median", "[min-max]", "target");
    const std::pair<const char*, void (comparison::*)()> groups[] = {
        {"compile", &comparison::compile},       {"round_trip", &comparison::round_trip},
        {"saturated", &comparison::saturated},   {"heap", &comparison::heap},
        {"pipelining", &comparison::pipelining},
    };
    for (const auto& [name, measure_group] : groups) {
      if (!wanted(name)) continue;
      const std::size_t before = figures_.size();
      (this->*measure_group)();
      for (std::size_t i = before; i < figures_.size(); ++i) print(figures_[i]);
      std::fflush(stdout);
    }
    if (!options_.json.empty()) write_json();
    if (failed_ || figures_.empty()) return 2;
    return std::all_of(figures_.begin(), figures_.end(),
                       [](const figure& each) { return each.target == 0 || each.met(); })
               ? 0
               : 1;
  }

 private:
  [[nodiscard]] std::string program(const char* name) const {
    return options_.directory + "/" + name;
  }
  [[nodiscard]] bool wanted(std::string_view name) const {
    return options_.only.empty() || options_.only == name;
  }

  /// The values a program told; empty when it failed, which spoils the whole comparison.
  values measure(const char* name, std::vector<std::string> words, const broker& against,
                 const std::string& preload = {}) {
    words.insert(words.begin(), program(name));
    for (std::string& each : against.options()) words.push_back(std::move(each));
    const finished result = run(words, preload);
    std::string line;
    for (const std::string& word : words) line += word + " ";
    if (result.good) {
      values told = parse(result.output);
      return told;
    }
    std::fprintf(stderr, "\nfailed: %s\n", line.c_str());
    failed_ = true;
    return {};
  }

  figure& figure_of(const char* name, const char* unit, double target = 0, bool at_most = true) {
    for (figure& each : figures_)
      if (each.name == name) return each;
    figures_.push_back({name, unit, target, at_most, {}});
    return figures_.back();
  }

  void add(const char* name, const char* unit, const values& from, const char* value,
           double target = 0, bool at_most = true) {
    if (const auto found = from.find(value); found != from.end())
      figure_of(name, unit, target, at_most).samples.push_back(found->second);
  }

  void add_ratio(const char* name, const values& ours, const values& theirs, const char* value,
                 double target, bool at_most = true) {
    const auto over = ours.find(value);
    const auto under = theirs.find(value);
    if (over == ours.end() || under == theirs.end() || under->second <= 0) return;
    figure_of(name, "x", target, at_most).samples.push_back(over->second / under->second);
  }

  void saturated() {
    const broker brokers(options_.directory, {"--brokers", "3", "--partitions", "12"});
    for (int i = 0; i < options_.rounds; ++i) {
      const std::vector<std::string> mode = {"saturate", "--records", options_.records};
      const values ours = measure("load_partita", mode, brokers);
      const values theirs = with_rdkafka_ ? measure("load_rdkafka", mode, brokers) : values();
      add_ratio("saturated: CPU per record / librdkafka's", ours, theirs, "cpu_ns", 0.5);
      add("saturated: CPU per record, partita", "ns", ours, "cpu_ns");
      add("saturated: CPU per record, librdkafka", "ns", theirs, "cpu_ns");
      add("saturated: records/s, partita", "/s", ours, "records_per_second");
      add("saturated: records/s, librdkafka", "/s", theirs, "records_per_second");
      add("saturated: records per batch, partita", "records", ours, "records_per_batch");
      add("saturated: records per batch, librdkafka", "records", theirs, "records_per_batch");
    }
  }

  void round_trip() {
    const broker one(options_.directory, {"--brokers", "1", "--partitions", "1"});
    for (int i = 0; i < options_.rounds; ++i) {
      const values floor = measure("raw_socket", {"floor"}, one);
      const values ours = measure("load_partita", {"round_trip"}, one);
      const values theirs = with_rdkafka_ ? measure("load_rdkafka", {"round_trip"}, one) : values();
      add_ratio("round trip: p50 / raw socket's", ours, floor, "p50_us", 1.3);
      add("round trip: p50, partita", "us", ours, "p50_us");
      add("round trip: p50, raw socket", "us", floor, "p50_us");
      add("round trip: p50, librdkafka", "us", theirs, "p50_us");
      add("round trip: p99, partita", "us", ours, "p99_us");
      add("round trip: p99, raw socket", "us", floor, "p99_us");
    }
  }

  void pipelining() {
    const broker slow(options_.directory,
                      {"--brokers", "1", "--partitions", "1", "--delay-ms", "100"});
    for (int i = 0; i < options_.rounds; ++i) {
      const values ours = measure("load_partita", {"pipeline"}, slow);
      const values theirs = with_rdkafka_ ? measure("load_rdkafka", {"pipeline"}, slow) : values();
      add("pipelining: per 100 ms round trip", "batches", ours, "batches_per_round_trip", 4.5,
          false);
      add("pipelining: the same, librdkafka", "batches", theirs, "batches_per_round_trip");
    }
  }

  void heap() {
    const broker brokers(options_.directory, {"--brokers", "3", "--partitions", "12"});
    const std::string counter = program("libheap_counter.so");
    for (int i = 0; i < options_.rounds; ++i) {
      const std::vector<std::string> mode = {"saturate", "--records", options_.records};
      const values ours = measure("load_partita", mode, brokers, counter);
      const values theirs =
          with_rdkafka_ && i == 0 ? measure("load_rdkafka", mode, brokers, counter) : values();
      add("heap: per record, partita", "allocations", ours, "allocations", 0.1);
      add("heap: per record, librdkafka", "allocations", theirs, "allocations");
    }
  }

  /// CPU time of the compiler, which other work on the machine changes less than its duration.
  void compile() {
    const std::string name = "/tmp/partita-bench-" + std::to_string(::getpid()) + ".cpp";
    if (FILE* const file = std::fopen(name.c_str(), "w")) {
      std::fputs("#include <partita/producer.hpp>\n", file);
      std::fclose(file);
    }
    for (int i = 0; i < options_.rounds; ++i) {
      const finished result =
          run({"g++", "-std=c++20", "-O0", "-I", options_.headers, "-c", name, "-o", "/dev/null"});
      failed_ = failed_ || !result.good;
      figure_of("compile: <partita/producer.hpp>, g++ -O0", "s", 1)
          .samples.push_back(result.cpu_seconds);
    }
    ::unlink(name.c_str());
  }

  static void print(const figure& what) {
    char spread[64];
    std::snprintf(spread, sizeof spread, "[%.4g-%.4g]", what.least(), what.most());
    char verdict[64] = "";
    if (what.target != 0)
      std::snprintf(verdict, sizeof verdict, "%s %.4g  %s", what.at_most ? "<=" : ">=", what.target,
                    what.met() ? "met" : "NOT MET");
    std::printf("%-48s %10.4g  %-24s %s\n", (what.name + ", " + what.unit).c_str(), what.median(),
                spread, verdict);
  }

  void write_json() const {
    FILE* const file = std::fopen(options_.json.c_str(), "w");
    if (file == nullptr) return std::perror(options_.json.c_str());
    std::fputs("[", file);
    const char* separator = "\n";
    for (const figure& each : figures_) {
      std::fprintf(
          file, "%s  {\"name\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"samples\": [",
          std::exchange(separator, ",\n"), each.name.c_str(), each.unit.c_str(), each.median());
      for (std::size_t i = 0; i < each.samples.size(); ++i)
        std::fprintf(file, "%s%.6g", i == 0 ? "" : ", ", each.samples[i]);
      std::fputs("]", file);
      if (each.target != 0)
        std::fprintf(file, ", \"target\": %.6g, \"met\": %s", each.target,
                     each.met() ? "true" : "false");
      std::fputs("}", file);
    }
    std::fputs("\n]\n", file);
    std::fclose(file);
  }

  settings options_;
  std::vector<figure> figures_;
  bool with_rdkafka_ = false;
  bool failed_ = false;
};

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  partita::bench::settings options;
  const std::string self = argv[0];
  const std::size_t slash = self.rfind('/');
  options.directory = slash == std::string::npos ? "." : self.substr(0, slash);
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--rounds")
      options.rounds = std::atoi(value);
    else if (name == "--only")
      options.only = value;
    else if (name == "--json")
      options.json = value;
    else if (name == "--records")
      options.records = value;
    else if (name == "--headers")
      options.headers = value;
    else
      options.rounds = 0;
  }
  if (options.rounds < 1) {
    std::fprintf(stderr,
                 "compare [--rounds N] [--only saturated|round_trip|pipelining|heap|compile]\n"
                 "        [--json FILE] [--records N] [--headers DIRECTORY]\n");
    return 2;
  }
  return partita::bench::comparison(options).run_all();
}
