#include "bench/compare/figures.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace partita::bench {
namespace {

/// Of what the clients tell, the columns of the table.
constexpr std::pair<const char*, const char*> columns[] = {
    {"cpu_ns", "CPU ns/record"},
    {"records_per_second", "records/s"},
    {"p50_us", "p50 us"},
    {"p99_us", "p99 us"},
    {"normal_p50_us", "p50 us, all well"},
    {"normal_p99_us", "p99 us, all well"},
    {"silent_p50_us", "p50 us, one silent"},
    {"silent_p99_us", "p99 us, one silent"},
    {"records_per_batch", "records/batch"},
    {"batches_per_round_trip", "batches/round trip"},
    {"resident_bytes", "resident bytes"},
};

std::string short_form(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 10'000 ? "%.0f" : "%.4g", value);
  return text;
}

std::string with_spread(const samples& of) {
  return short_form(of.median()) + " [" + short_form(of.least()) + "-" + short_form(of.most()) +
         "]";
}

void print_padded(const std::string& text, std::size_t width) {
  std::printf("  %-*s", static_cast<int>(width), text.c_str());
}

void write_samples(std::FILE* file, const samples& of) {
  std::fputs("[", file);
  const char* separator = "";
  for (const double each : of.all())
    std::fprintf(file, "%s%.6g", std::exchange(separator, ", "), each);
  std::fputs("]", file);
}

}  // namespace

double samples::median() const {
  std::vector<double> sorted = all_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
double samples::least() const { return *std::min_element(all_.begin(), all_.end()); }
double samples::most() const { return *std::max_element(all_.begin(), all_.end()); }

bool figure::met() const {
  return !found.empty() &&
         (target.at_most ? found.median() <= target.value : found.median() >= target.value);
}

void case_table::take(const std::string& client, const values& told) {
  if (told.empty()) return;
  auto at = std::find_if(clients_.begin(), clients_.end(),
                         [&](const row& each) { return each.first == client; });
  if (at == clients_.end()) at = clients_.insert(at, {client, {}});
  for (const auto& [name, value] : told) at->second[name].add(value);
}

figure& case_table::figure_of(const std::string& name, const std::string& unit, bound target) {
  for (figure& each : figures_)
    if (each.name == name) return each;
  return figures_.emplace_back(figure{name, unit, target, {}});
}

void case_table::add(const std::string& name, const std::string& unit, const values& from,
                     const std::string& value, bound target) {
  figure& into = figure_of(name, unit, target);
  if (const auto at = from.find(value); at != from.end()) into.found.add(at->second);
}

void case_table::add_ratio(const std::string& name, const values& over, const values& under,
                           const std::string& value, bound target) {
  figure& into = figure_of(name, "x", target);
  const auto above = over.find(value);
  const auto below = under.find(value);
  if (above != over.end() && below != under.end() && below->second > 0)
    into.found.add(above->second / below->second);
}

void case_table::print() const {
  std::printf("\n%s\n", title_.c_str());
  print_clients();
  std::size_t width = 0;
  for (const figure& each : figures_)
    width = std::max(width, each.name.size() + each.unit.size() + 2);
  for (const figure& each : figures_) {
    print_padded(each.name + ", " + each.unit, width);
    if (each.found.empty()) {
      std::printf("  not measured\n");
      continue;
    }
    print_padded(with_spread(each.found), 28);
    if (each.target.value != 0)
      std::printf("  %s %.4g  %s", each.target.at_most ? "<=" : ">=", each.target.value,
                  each.met() ? "met" : "NOT MET");
    std::printf("\n");
  }
  std::fflush(stdout);
}

void case_table::print_clients() const {
  if (clients_.empty()) return;
  std::size_t width = 6;
  for (const auto& [client, told] : clients_) width = std::max(width, client.size());
  const auto cell = [](const std::map<std::string, samples>& told, const char* value) {
    const auto at = told.find(value);
    return at == told.end() ? std::string("-") : with_spread(at->second);
  };
  std::vector<std::pair<const char*, std::size_t>> shown;  // values, and widths of their columns
  print_padded("client", width);
  for (const auto& [value, heading] : columns) {
    std::size_t widest = 0;
    for (const auto& [client, told] : clients_)
      if (told.contains(value)) widest = std::max(widest, cell(told, value).size());
    if (widest == 0) continue;
    shown.emplace_back(value, std::max(widest, std::strlen(heading)));
    print_padded(heading, shown.back().second);
  }
  std::printf("\n");
  for (const auto& [client, told] : clients_) {
    print_padded(client, width);
    for (const auto& [value, column] : shown) print_padded(cell(told, value), column);
    std::printf("\n");
  }
}

void case_table::write_json(std::FILE* file) const {
  std::fprintf(file, "  {\"case\": \"%s\",\n   \"clients\": {", title_.c_str());
  const char* separator = "\n";
  for (const auto& [client, told] : clients_) {
    std::fprintf(file, "%s    \"%s\": {", std::exchange(separator, ",\n"), client.c_str());
    const char* comma = "";
    for (const auto& [name, found] : told) {
      std::fprintf(file, "%s\"%s\": ", std::exchange(comma, ", "), name.c_str());
      write_samples(file, found);
    }
    std::fputs("}", file);
  }
  std::fputs("},\n   \"figures\": [", file);
  separator = "\n";
  for (const figure& each : figures_) {
    std::fprintf(file, "%s    {\"name\": \"%s\", \"unit\": \"%s\", \"samples\": ",
                 std::exchange(separator, ",\n"), each.name.c_str(), each.unit.c_str());
    write_samples(file, each.found);
    if (!each.found.empty()) std::fprintf(file, ", \"median\": %.6g", each.found.median());
    if (each.target.value != 0)
      std::fprintf(file, ", \"%s\": %.6g, \"met\": %s",
                   each.target.at_most ? "at_most" : "at_least", each.target.value,
                   each.met() ? "true" : "false");
    std::fputs("}", file);
  }
  std::fputs("]}", file);
}

}  // namespace partita::bench
