#include "tests/simulate/mutant_table.hpp"

#include "wire/mutant.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

namespace partita::simulate {

#ifdef PARTITA_MUTANTS

namespace {

struct mutant_row {
  std::string_view name;
  std::string_view report;
  std::string_view text;
};
constexpr auto mutants = static_cast<std::size_t>(mutant::count);
constexpr std::array<mutant_row, mutants> rows{{
#define PARTITA_MUTANT_ROW(name, report, text) {#name, report, text},
    PARTITA_MUTANT_LIST(PARTITA_MUTANT_ROW)
#undef PARTITA_MUTANT_ROW
}};

constexpr std::string_view protection = "protection";
constexpr std::uint64_t control_seeds = 2000;

void plant_nothing() { std::fill(std::begin(planted_mutants), std::end(planted_mutants), false); }

std::string caught_by(const crew_end& end) {
  std::set<std::pair<int, std::string>> kinds;
  for (const crew_finding& each : end.findings)
    kinds.emplace(each.what.invariant, each.what.anomaly);
  std::string text;
  for (const auto& [invariant, anomaly] : kinds)
    text += (text.empty() ? "I" : ", I") + std::to_string(invariant) + " " + anomaly;
  return text;
}

void quiet(const crew_finding&) {}

bool print_row(const mutant_row& one, const crew_end& end) {
  const bool caught = !end.findings.empty();
  const std::string seed = caught ? std::to_string(end.findings.front().seed) : "none";
  std::printf("| %s | %s | %s | %s | %s |\n", std::string(one.name).c_str(),
              std::string(one.report).c_str(), std::string(one.text).c_str(), seed.c_str(),
              caught ? caught_by(end).c_str() : "not caught");
  std::fflush(stdout);
  return caught;
}

/// Without the ledger nothing stops the write: the log shows the loss, the offsets can not.
bool control_holds(crew_task task) {
  plant_nothing();
  switch_on("reuse_tuple,ledger_off");
  task.last = task.first + control_seeds - 1;
  task.stop_at_first = false;
  const crew_end end = run_crew(task, &quiet);
  std::set<int> broken;
  for (const crew_finding& each : end.findings) broken.insert(each.what.invariant);
  const bool holds = broken.contains(1) && !broken.contains(3);
  std::printf("\ncontrol: reuse_tuple with ledger_off, %llu seeds: %s: %s\n",
              static_cast<unsigned long long>(end.histories), caught_by(end).c_str(),
              holds ? "I1 shows it and I3 does not" : "NOT as expected");
  return holds;
}

}  // namespace

bool switch_on(const std::string& names) {
  std::size_t at = 0;
  while (at <= names.size()) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    const std::string_view name = std::string_view(names).substr(at, comma - at);
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [name](const mutant_row& each) { return each.name == name; });
    if (found == rows.end()) return false;
    planted_mutants[found - rows.begin()] = true;
    at = comma + 1;
  }
  return true;
}

int print_mutant_table(crew_task task) {
  task.stop_at_first = true;
  std::printf("| mutant | report | what it does | first seed | caught by |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  int missed = 0;
  for (std::size_t i = 0; i < mutants; ++i) {
    if (rows[i].report == protection) continue;
    plant_nothing();
    planted_mutants[i] = true;
    if (!print_row(rows[i], run_crew(task, &quiet))) ++missed;
  }
  const bool held = control_holds(task);
  return missed == 0 && held ? 0 : 1;
}

#else

bool switch_on(const std::string&) { return false; }

int print_mutant_table(crew_task) {
  std::fputs("simulate: built without mutants\n", stderr);
  return 2;
}

#endif

}  // namespace partita::simulate
