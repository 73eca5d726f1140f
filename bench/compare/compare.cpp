// Runs the measuring programs in interleaved rounds and prints the figures against their targets.
//
//     compare --only CASE,... [--rounds N] [--json FILE] [--records N] [--headers DIRECTORY]
//             [--kafka BOOTSTRAP] [--client NAME=COMMAND]...
//
// CASE: P1 to P12 (docs/performance.md), saturated, round_trip, pipelining, heap or compile. Every
// client is a process of its own, so that its CPU time is its own; the null broker is another and
// is not counted. A ratio is taken within a round, where both sides met the same machine; what is
// printed is the median with [min-max].
#include "bench/compare/comparison.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace partita::bench {
namespace {

std::optional<settings> settings_of(int argc, char** argv) {
  settings options;
  const std::string self = argv[0];
  const std::size_t slash = self.rfind('/');
  options.directory = slash == std::string::npos ? "." : self.substr(0, slash);
  options.only = split("compile,round_trip,saturated,heap,pipelining", ',');
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (value.empty()) return std::nullopt;
    if (name == "--rounds") {
      options.rounds = std::atoi(value.c_str());
    } else if (name == "--only") {
      options.only = split(value, ',');
    } else if (name == "--json") {
      options.json = value;
    } else if (name == "--records") {
      options.records = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--headers") {
      options.headers = value;
    } else if (name == "--kafka") {
      options.kafka = value;
    } else if (name == "--client" && value.find('=') != std::string::npos) {
      const std::size_t equals = value.find('=');
      options.clients.push_back({value.substr(0, equals), split(value.substr(equals + 1), ' ')});
    } else {
      return std::nullopt;
    }
  }
  if (options.rounds < 1 || options.records < 1) return std::nullopt;
  return options;
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  std::optional<partita::bench::settings> options = partita::bench::settings_of(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "compare [--only P1|...|P12|saturated|round_trip|pipelining|heap|compile,...]\n"
                 "        [--rounds N] [--json FILE] [--records N] [--headers DIRECTORY]\n"
                 "        [--kafka BOOTSTRAP] [--client NAME=COMMAND]...\n");
    return 2;
  }
  return partita::bench::comparison(*std::move(options)).run_all();
}
