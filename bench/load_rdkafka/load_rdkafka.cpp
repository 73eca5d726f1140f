// The same runs as load_partita with librdkafka.
//
//     load_rdkafka MODE --bootstrap HOST:PORT,... [--statistics FILE] [--records N] ...
//
// MODE and options are load_partita's; it has no lanes. The mode "version" prints librdkafka's.
#include "bench/load_rdkafka/modes.hpp"

#include <librdkafka/rdkafka.h>

#include <utility>

int main(int argc, char** argv) {
  namespace bench = partita::bench;
  const bench::arguments given(argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  using run = int (*)(const bench::arguments&);
  const std::pair<std::string_view, run> modes[] = {
      {"saturate", &bench::saturate},     {"fixed", &bench::fixed_rate},
      {"closed", &bench::closed_loop},    {"round_trip", &bench::round_trip},
      {"pipeline", &bench::pipeline},     {"one_silent", &bench::one_silent},
      {"partitions", &bench::partitions}, {"curve", &bench::curve},
      {"backlog", &bench::backlog},
  };
  if (mode == "version") return std::printf("version %s\n", rd_kafka_version_str()) < 0 ? 1 : 0;
  for (const auto& [name, start] : modes)
    if (mode == name) return start(given);
  std::fprintf(stderr, "load_rdkafka: what mode is '%s'?\n", argc > 1 ? argv[1] : "");
  return 2;
}
