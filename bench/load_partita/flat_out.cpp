// As many records as the producer takes, by callbacks.
#include "bench/load_partita/answers.hpp"
#include "bench/load_partita/modes.hpp"

namespace partita::bench {

/// The window is kept near the cache: a backlog of the size of buffer.memory only costs.
int saturate(producer_config config, const arguments& given) {
  const std::uint64_t count = given.number("--records", 2'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  config.buffer_memory_bytes = given.number("--window", 4 << 20);
  config.batch_size_bytes = given.number("--batch-size", config.batch_size_bytes);
  const load records(given.number("--value-size", 100));
  answers counts;
  producer to(config);
  produce_many(to, records, counts, 0, warm_up);
  (void)to.flush().get();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  produce_many(to, records, counts, warm_up, warm_up + count);
  (void)to.flush().get();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  return counts.report(warm_up + count);
}

int pipeline(producer_config config, const arguments& given) {
  config.batch_records_max = static_cast<int>(given.number("--batch-records", 1000));
  config.buffer_memory_bytes = 16 << 20;
  const auto delay = static_cast<double>(given.number("--delay-ms", 100)) * 1e-3;
  const auto length = std::chrono::milliseconds(given.number("--milliseconds", 4000));
  const load records(given.number("--value-size", 100));
  answers counts;
  producer to(config);
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  std::uint64_t made = 0;
  const auto flat_out = [&](std::chrono::milliseconds during) {
    const auto end = std::chrono::steady_clock::now() + during;
    while (std::chrono::steady_clock::now() < end) {
      produce_many(to, records, counts, made, made + 100);
      made += 100;
    }
  };
  flat_out(std::chrono::milliseconds(1500));
  broker.begin();
  flat_out(length);
  broker.tell_pipelining(delay);
  broker.tell_counts();
  (void)to.flush().get();
  return counts.report(made);
}

}  // namespace partita::bench
