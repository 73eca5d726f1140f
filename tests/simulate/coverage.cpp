#include "tests/simulate/coverage.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace partita::simulate {
namespace {

struct row {
  fault_group group;
  std::string_view name;
};

constexpr std::array<row, fault_kinds> rows{{
#define PARTITA_FAULT_ROW(group, kind) {fault_group::group, #kind},
    PARTITA_SIMULATED_FAULTS(PARTITA_FAULT_ROW)
#undef PARTITA_FAULT_ROW
}};

std::string line(const char* format, auto... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

unsigned long long wide(std::uint64_t value) { return value; }

}  // namespace

std::string_view name(fault_kind kind) noexcept {
  return rows[static_cast<std::size_t>(kind)].name;
}

void coverage::add(const coverage& other) noexcept {
  for (std::size_t i = 0; i < fault_kinds; ++i) faults[i] += other.faults[i];
  for (std::size_t i = 0; i < fault_groups; ++i)
    for (std::size_t k = 0; k < fault_groups; ++k) pairs[i][k] += other.pairs[i][k];
  for (std::size_t i = 0; i < actors::core_states_max; ++i)
    for (std::size_t k = 0; k < actors::core_events; ++k) cells[i][k] += other.cells[i][k];
  delivered += other.delivered;
  not_written += other.not_written;
  unknown += other.unknown;
  settled_delivered += other.settled_delivered;
  settled_never_written += other.settled_never_written;
  undecidable += other.undecidable;
  halts_asked += other.halts_asked;
  recoveries += other.recoveries;
  resubmitted += other.resubmitted;
  taken += other.taken;
  flushes += other.flushes;
  events += other.events;
  virtual_ms += other.virtual_ms;
}

std::string report(const coverage& seen, std::uint64_t histories) {
  std::string text = "faults\n";
  for (std::size_t g = 0; g < fault_groups; ++g) {
    const auto group = static_cast<fault_group>(g);
    text += line("  %2d %-13s", number(group), std::string(name(group)).c_str());
    for (std::size_t i = 0; i < fault_kinds; ++i)
      if (rows[i].group == group)
        text += line(" %s %llu", std::string(rows[i].name).c_str(), wide(seen.faults[i]));
    text += "\n";
  }
  std::uint64_t rarest = histories;
  for (std::size_t i = 0; i < fault_groups; ++i)
    for (std::size_t k = i + 1; k < fault_groups; ++k) rarest = std::min(rarest, seen.pairs[i][k]);
  text += line("  the rarest pair of groups met in %llu histories\n", wide(rarest));
  text += line("records  delivered %llu  not written %llu  unknown %llu\n", wide(seen.delivered),
               wide(seen.not_written), wide(seen.unknown));
  text +=
      line("settled  delivered %llu  never written %llu  undecidable %llu\n",
           wide(seen.settled_delivered), wide(seen.settled_never_written), wide(seen.undecidable));
  text +=
      line("control  halts %llu  recoveries %llu (resubmitted %llu, taken %llu)  flushes %llu\n",
           wide(seen.halts_asked), wide(seen.recoveries), wide(seen.resubmitted), wide(seen.taken),
           wide(seen.flushes));
  text += line("virtual  %.1f hours, %llu events\n",
               static_cast<double>(seen.virtual_ms) / 3'600'000.0, wide(seen.events));
  return text;
}

}  // namespace partita::simulate
