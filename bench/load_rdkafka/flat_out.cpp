// As many records as librdkafka takes: over a few partitions, among many, and one of them.
#include "bench/load_rdkafka/client.hpp"
#include "bench/load_rdkafka/modes.hpp"

namespace partita::bench {
namespace {

/// Its destructor would wait for what is in the queue; the figures are told.
[[noreturn]] void leave(int code) {
  std::fflush(stdout);
  std::_Exit(code);
}

}  // namespace

int saturate(const arguments& given) {
  const std::uint64_t count = given.number("--records", 2'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  const load records(given.number("--value-size", 100));
  client to(given, "5");
  to.produce_many(records, 0, warm_up);
  to.flush();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  to.produce_many(records, warm_up, warm_up + count);
  to.flush();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  return to.report(warm_up + count);
}

int pipeline(const arguments& given) {
  const auto delay = static_cast<double>(given.number("--delay-ms", 100)) * 1e-3;
  const auto length = std::chrono::milliseconds(given.number("--milliseconds", 4000));
  const load records(given.number("--value-size", 100));
  client to(given, "5", given.text("--batch-records", "1000"));
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  std::uint64_t made = 0;
  const auto flat_out = [&](std::chrono::milliseconds during) {
    const auto end = std::chrono::steady_clock::now() + during;
    while (std::chrono::steady_clock::now() < end) {
      to.produce_many(records, made, made + 100);
      made += 100;
    }
  };
  flat_out(std::chrono::milliseconds(1500));
  broker.begin();
  flat_out(length);
  broker.tell_pipelining(delay);
  broker.tell_counts();
  leave(0);  // a full queue of this client would take minutes to drain here
}

int partitions(const arguments& given) {
  constexpr std::uint64_t busy = 12;
  const std::uint64_t touch = given.number("--touch", 10'000);
  const std::uint64_t count = given.number("--records", 1'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  const load records(given.number("--value-size", 100));
  client to(given, "5");
  const auto produce = [&](std::uint64_t i, std::uint64_t partition) {
    to.produce(records, i, nullptr, static_cast<std::int32_t>(partition));
    if (i % 64 == 0) to.poll(0);
  };
  for (std::uint64_t i = 0; i < touch; ++i) {
    produce(i, i);
    if (i % 64 == 63) to.flush();
  }
  to.flush();
  tell("resident_bytes", resident_bytes());
  for (std::uint64_t i = 0; i < warm_up; ++i) produce(i, i % busy);
  to.flush();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  for (std::uint64_t i = 0; i < count; ++i) produce(i, i % busy);
  to.flush();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  return to.report(touch + warm_up + count);
}

}  // namespace partita::bench
