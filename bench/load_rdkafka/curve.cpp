// Flat out with a bounded number of records without an answer, for the scaling curves.
#include "bench/load_rdkafka/client.hpp"
#include "bench/load_rdkafka/modes.hpp"

namespace partita::bench {
namespace {

/// Records in order, to the partitions of their keys or to so many in turn.
class numbered_load {
 public:
  numbered_load(client& to, const load& records, const arguments& given)
      : to_(to), records_(records), spread_over_(given.number("--spread-over", 0)) {}

  void produce(std::uint64_t i) {
    const std::int32_t partition =
        spread_over_ == 0 ? RD_KAFKA_PARTITION_UA : static_cast<std::int32_t>(i % spread_over_);
    to_.produce(records_, i, nullptr, partition);
    if (i % 64 == 0) to_.poll(0);
  }
  /// Never more than `open` without an answer.
  void produce_many(std::uint64_t from, std::uint64_t until, std::uint64_t open) {
    for (std::uint64_t i = from; i < until; ++i) {
      while (i - to_.answered() >= open) to_.poll(100);
      produce(i);
    }
  }

 private:
  client& to_;
  const load& records_;
  const std::uint64_t spread_over_;
};

}  // namespace

int curve(const arguments& given) {
  const std::uint64_t count = given.number("--records", 1'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  const std::uint64_t open = given.number("--open", 100'000);
  const load records(given.number("--value-size", 100));
  const double resident = resident_bytes();
  client to(given, "5");
  numbered_load all(to, records, given);
  all.produce_many(0, warm_up, open);
  to.flush();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  all.produce_many(warm_up, warm_up + count, open);
  to.flush();
  const moment after = now();
  tell_cost(before, after, count);
  tell_memory(resident);
  if (broker.usable()) broker.tell_counts();
  return to.report(warm_up + count);
}

int backlog(const arguments& given) {
  const std::uint64_t open = std::max<std::uint64_t>(given.number("--open", 100'000), 1);
  const std::uint64_t rounds =
      std::max<std::uint64_t>(given.number("--records", 1'000'000) / open, 1);
  const load records(given.number("--value-size", 100));
  const double resident = resident_bytes();
  client to(given, "5");
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  numbered_load all(to, records, given);
  std::uint64_t made = 0;
  const auto fill_and_drain = [&] {
    broker.hold(true);
    for (const std::uint64_t until = made + open; made < until; ++made) all.produce(made);
    broker.hold(false);
    to.flush();
  };
  all.produce(made++);  // so that it is connected
  to.flush();
  fill_and_drain();
  broker.begin();
  const moment before = now();
  for (std::uint64_t i = 0; i < rounds; ++i) fill_and_drain();
  const moment after = now();
  tell_cost(before, after, rounds * open);
  tell_memory(resident);
  broker.tell_counts();
  return to.report(made);
}

}  // namespace partita::bench
