// Flat out with a bounded number of records without an answer, for the scaling curves.
#include "bench/load_partita/lane_answers.hpp"
#include "bench/load_partita/modes.hpp"

namespace partita::bench {
namespace {

/// Records in order, to the partitions of their keys or to so many in turn.
class numbered_load {
 public:
  numbered_load(producer& to, const load& records, const arguments& given, lane_answers& counts)
      : to_(to),
        records_(records),
        spread_over_(given.number("--spread-over", 0)),
        counts_(counts) {}

  void produce(std::uint64_t i) {
    record next = numbered(records_, i);
    if (spread_over_ != 0)
      next.partition = partition_id(static_cast<std::int32_t>(i % spread_over_));
    while (to_.try_produce(next, [counts = &counts_](const outcome& answer) {
      counts->take(answer);
    }) == admission::full)
      counts_.wait();
  }
  /// Never more than `open` without an answer.
  void produce_many(std::uint64_t from, std::uint64_t until, std::uint64_t open) {
    for (std::uint64_t i = from; i < until; ++i) {
      while (i - answered_ >= open && i - (answered_ = counts_.answered()) >= open) counts_.wait();
      produce(i);
    }
  }

 private:
  producer& to_;
  const load& records_;
  const std::uint64_t spread_over_;
  lane_answers& counts_;
  std::uint64_t answered_ = 0;  ///< at least
};

producer_config for_curves(producer_config config, const arguments& given) {
  config.buffer_memory_bytes = given.number("--room-mib", 64) << 20U;
  config.lanes = static_cast<int>(given.number("--lanes", 1));
  config.max_request_size_bytes =
      given.number("--message-bytes-max", config.max_request_size_bytes);
  return config;
}

}  // namespace

int curve(producer_config config, const arguments& given) {
  const std::uint64_t count = given.number("--records", 1'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  const std::uint64_t open = given.number("--open", 100'000);
  const load records(given.number("--value-size", 100));
  lane_answers counts(open);
  const double resident = resident_bytes();
  producer to(for_curves(config, given));
  numbered_load all(to, records, given, counts);
  all.produce_many(0, warm_up, open);
  (void)to.flush().get();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  all.produce_many(warm_up, warm_up + count, open);
  (void)to.flush().get();
  const moment after = now();
  tell_cost(before, after, count);
  tell_memory(resident);
  if (broker.usable()) broker.tell_counts();
  return counts.report(warm_up + count);
}

int backlog(producer_config config, const arguments& given) {
  const std::uint64_t open = std::max<std::uint64_t>(given.number("--open", 100'000), 1);
  const std::uint64_t rounds =
      std::max<std::uint64_t>(given.number("--records", 1'000'000) / open, 1);
  const load records(given.number("--value-size", 100));
  lane_answers counts(open);
  const double resident = resident_bytes();
  producer to(for_curves(config, given));
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  numbered_load all(to, records, given, counts);
  std::uint64_t made = 0;
  const auto fill_and_drain = [&] {
    broker.hold(true);
    for (const std::uint64_t until = made + open; made < until; ++made) all.produce(made);
    broker.hold(false);
    (void)to.flush().get();
  };
  all.produce(made++);  // so that it is connected
  (void)to.flush().get();
  fill_and_drain();
  broker.begin();
  const moment before = now();
  for (std::uint64_t i = 0; i < rounds; ++i) fill_and_drain();
  const moment after = now();
  tell_cost(before, after, rounds * open);
  tell_memory(resident);
  broker.tell_counts();
  return counts.report(made);
}

}  // namespace partita::bench
