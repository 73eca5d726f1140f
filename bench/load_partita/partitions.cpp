// What many partitions cost that were used once and are idle: memory, and CPU of the busy ones.
#include "bench/load_partita/answers.hpp"
#include "bench/load_partita/modes.hpp"

namespace partita::bench {

int partitions(producer_config config, const arguments& given) {
  constexpr std::uint64_t busy = 12;
  constexpr std::uint64_t at_once = 64;  // so that what is in flight leaves little behind
  const std::uint64_t touch = given.number("--touch", 10'000);
  const std::uint64_t count = given.number("--records", 1'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  config.buffer_memory_bytes = 4 << 20;
  const load records(given.number("--value-size", 100));
  answers counts;
  producer to(config);
  const auto produce = [&](std::uint64_t i, std::uint64_t partition) {
    record next = numbered(records, i);
    next.partition = partition_id(static_cast<std::int32_t>(partition));
    produce_one(to, next, counts, [&counts](const outcome& answer) { counts.take(answer); });
  };
  for (std::uint64_t i = 0; i < touch; ++i) {
    produce(i, i);
    if (i % at_once == at_once - 1) (void)to.flush().get();
  }
  (void)to.flush().get();
  tell("resident_bytes", resident_bytes());
  for (std::uint64_t i = 0; i < warm_up; ++i) produce(i, i % busy);
  (void)to.flush().get();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  for (std::uint64_t i = 0; i < count; ++i) produce(i, i % busy);
  (void)to.flush().get();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  return counts.report(touch + warm_up + count);
}

}  // namespace partita::bench
