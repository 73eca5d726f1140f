// simulate: seeded histories of the producer in a simulated cluster, judged.
//
// Exit code 0: no anomaly. 1: at least one, or a state met what it can not. 2: wrong arguments.
#include "tests/simulate/cells.hpp"
#include "tests/simulate/crew.hpp"
#include "tests/simulate/mutant_table.hpp"
#include "tests/simulate/story.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

namespace partita::simulate {
namespace {

struct arguments {
  crew_task task{.first = 1, .last = 10'000, .jobs = 0};
  bool trace = false;
  bool table = false;
  bool to_the_end = false;
  bool with_mutant = false;
};

[[noreturn]] void usage(const std::string& wrong) {
  if (!wrong.empty()) std::fprintf(stderr, "simulate: %s\n", wrong.c_str());
  std::string names;
  for (const std::string_view each : profiles()) names += " " + std::string(each);
  std::fprintf(
      stderr,
      "simulate --seeds A..B [--profile NAME] [--mutant NAME] [--jobs N] [--first|--all] "
      "[--trace]\n"
      "simulate --mutants [--seeds A..B] [--jobs N]\n"
      "  --seeds    the histories to run, both ends included; one number: that one\n"
      "  --profile %s\n"
      "  --mutant   with this bug put back (several: with commas), to the first seed that shows "
      "it\n"
      "  --mutants  a table: each bug, the first seed that shows it, the invariants it breaks\n"
      "  --jobs     processes; the number of cores if not given\n"
      "  --first    end at the smallest seed with an anomaly\n"
      "  --all      do not, with a mutant either\n"
      "  --trace    write down what happens; in this process, seed by seed\n",
      names.c_str());
  std::exit(2);
}

bool read_seeds(const std::string& text, crew_task& task) {
  const auto dots = text.find("..");
  char* end = nullptr;
  task.first = std::strtoull(text.c_str(), &end, 10);
  if (dots == std::string::npos) {
    task.last = task.first;
    return end != text.c_str() && *end == '\0';
  }
  if (end != text.c_str() + dots || dots == 0) return false;
  task.last = std::strtoull(text.c_str() + dots + 2, &end, 10);
  return *end == '\0' && task.last >= task.first;
}

arguments read_arguments(int count, char** words) {
  arguments asked;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) usage(word + " needs a value");
      return words[++i];
    };
    if (word == "--seeds") {
      if (!read_seeds(value(), asked.task)) usage("--seeds takes A..B or a number");
    } else if (word == "--profile") {
      asked.task.profile = value();
      if (!draw_plan(1, asked.task.profile)) usage("no profile '" + asked.task.profile + "'");
    } else if (word == "--jobs") {
      asked.task.jobs = std::atoi(value().c_str());
      if (asked.task.jobs < 1) usage("--jobs takes a number from 1 on");
    } else if (word == "--first") {
      asked.task.stop_at_first = true;
    } else if (word == "--mutant") {
      const std::string names = value();
      if (!switch_on(names)) usage("no mutant '" + names + "'; --mutants lists them");
      asked.task.stop_at_first = true;
      asked.with_mutant = true;
    } else if (word == "--mutants") {
      asked.table = true;
    } else if (word == "--all") {
      asked.to_the_end = true;
    } else if (word == "--trace") {
      asked.trace = true;
    } else {
      usage(word == "--help" ? "" : "unknown argument '" + word + "'");
    }
  }
  if (asked.to_the_end) asked.task.stop_at_first = false;
  if (asked.task.jobs == 0) asked.task.jobs = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return asked;
}

void print(const crew_finding& one, const std::string& profile) {
  std::printf("anomaly  I%d %s  seed %llu profile %s: %s\n", one.what.invariant,
              one.what.anomaly.c_str(), static_cast<unsigned long long>(one.seed), profile.c_str(),
              one.what.text.c_str());
  std::fflush(stdout);
}

int trace(const crew_task& task) {
  coverage seen;
  bool clean = true;
  for (std::uint64_t seed = task.first; seed <= task.last; ++seed) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    const auto end = run_story(*draw_plan(seed, task.profile), seen, [](const std::string& line) {
      std::printf("  %s\n", line.c_str());
    });
    for (const finding& each : end.findings) print({seed, each}, task.profile);
    std::printf("trace hash %016llx\n", static_cast<unsigned long long>(end.trace_hash));
    clean = clean && end.findings.empty();
  }
  return clean ? 0 : 1;
}

int run(const crew_task& task, bool with_mutant) {
  const crew_end end = run_crew(task, [&](const crew_finding& one) { print(one, task.profile); });
  std::map<std::string, std::uint64_t> kinds;
  for (const crew_finding& each : end.findings)
    ++kinds["I" + std::to_string(each.what.invariant) + " " + each.what.anomaly];
  std::printf("%s%s", report(end.seen, end.histories).c_str(), cell_table(end.seen).c_str());
  for (const auto& [kind, count] : kinds)
    std::printf("%s: %llu\n", kind.c_str(), static_cast<unsigned long long>(count));
  const double rate =
      end.cpu_seconds > 0 ? static_cast<double>(end.histories) / end.cpu_seconds : 0;
  std::printf(
      "%llu histories, seeds %llu..%llu, profile %s: %llu with anomalies; "
      "%.0f histories per second and core, %.1f s; digest %016llx\n",
      static_cast<unsigned long long>(end.histories), static_cast<unsigned long long>(task.first),
      static_cast<unsigned long long>(task.last), task.profile.c_str(),
      static_cast<unsigned long long>(end.seeds_with_findings), rate, end.wall_seconds,
      static_cast<unsigned long long>(end.digest));
  if (end.seeds_with_findings != 0) return 1;
  // A bug that was put back may well do what is impossible without it.
  return !with_mutant && contradicts_its_cells(end.seen) ? 1 : 0;
}

}  // namespace
}  // namespace partita::simulate

int main(int count, char** words) {
  const auto asked = partita::simulate::read_arguments(count, words);
  if (asked.table) return partita::simulate::print_mutant_table(asked.task);
  return asked.trace ? partita::simulate::trace(asked.task)
                     : partita::simulate::run(asked.task, asked.with_mutant);
}
