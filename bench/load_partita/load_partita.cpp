// One measured run of partita against a broker; compare starts it.
//
//     load_partita MODE --bootstrap HOST:PORT,... [--statistics FILE] [--records N] [--warm-up N]
//                  [--value-size N] [--linger-ms N] [--codec NAME] ...
//
//     saturate     callbacks, flat out; CPU, rate and allocations per record
//     fixed        callbacks, --rate N for --milliseconds N; CPU, percentiles of every 16th record
//     closed       --window N coroutines that each await one record at a time; CPU, percentiles
//     round_trip   one record at a time by co_await, linger 0; percentiles
//     pipeline     one partition, flat out; batches per round trip of --delay-ms
//     one_silent   fixed rate; percentiles of the other brokers' partitions before and after one of
//                  --brokers N falls silent
//     partitions   --touch N partitions get a record; memory; then CPU of 12 busy ones among them
//     curve        callbacks, flat out, at most --open N records without an answer; CPU, memory
//     backlog      the same, but the brokers rest until --open N records wait
//
// Of the last two alone: --lanes N, --message-bytes-max N, --spread-over N (so many partitions in
// turn in place of those of the keys), --room-mib N (what may wait in the client itself).
#include "bench/load_partita/modes.hpp"

#include "bench/load_partita/answers.hpp"

#include <system_error>

namespace partita::bench {

int tell_answered(std::uint64_t answered, std::uint64_t failed, std::uint64_t produced,
                  std::uint64_t waits) {
  tell("waits_for_room", static_cast<double>(waits));
  tell("answered", static_cast<double>(answered));
  if (failed == 0 && answered == produced) return 0;
  std::fprintf(stderr, "load_partita: %llu of %llu records answered, %llu not delivered\n",
               static_cast<unsigned long long>(answered), static_cast<unsigned long long>(produced),
               static_cast<unsigned long long>(failed));
  return 1;
}

namespace {

compression codec_named(std::string_view name) {
  if (name == "lz4") return compression::lz4;
  if (name == "zstd") return compression::zstd;
  return compression::none;
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  namespace bench = partita::bench;
  const bench::arguments given(argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  partita::producer_config config;
  config.bootstrap_servers = given.text("--bootstrap", "localhost:9092");
  config.linger = std::chrono::milliseconds(given.number("--linger-ms", 5));
  config.compression = bench::codec_named(given.text("--codec", "none"));
  config.log_level = 4;
  config.log = [](void*, int, std::string_view line) {
    static std::atomic<int> lines{0};
    if (lines.fetch_add(1) < 10)
      std::fprintf(stderr, "load_partita: %.*s\n", static_cast<int>(line.size()), line.data());
  };
  using run = int (*)(partita::producer_config, const bench::arguments&);
  const std::pair<std::string_view, run> modes[] = {
      {"saturate", &bench::saturate},     {"fixed", &bench::fixed_rate},
      {"closed", &bench::closed_loop},    {"round_trip", &bench::round_trip},
      {"pipeline", &bench::pipeline},     {"one_silent", &bench::one_silent},
      {"partitions", &bench::partitions}, {"curve", &bench::curve},
      {"backlog", &bench::backlog},
  };
  try {
    for (const auto& [name, start] : modes)
      if (mode == name) return start(config, given);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "load_partita: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "load_partita: what mode is '%s'?\n", argc > 1 ? argv[1] : "");
  return 2;
}
