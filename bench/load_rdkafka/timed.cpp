// Runs whose answers are timed: closed loops, and fixed rates.
#include "bench/load_rdkafka/client.hpp"
#include "bench/load_rdkafka/modes.hpp"

#include <deque>

namespace partita::bench {
namespace {

/// One of a window of records: its answer, inside poll(), sends the next one.
class slot final : public stopwatch {
 public:
  struct shared_run {
    client& to;
    const load& records;
    std::uint64_t next, until;
    int open;
  };
  slot(shared_run& run, std::vector<double>& into) : stopwatch(into), run_(run) {}
  void send() {
    if (run_.next == run_.until) {
      --run_.open;
      return;
    }
    start();
    run_.to.produce(run_.records, run_.next++, this);
  }
  void answered() override {
    stopwatch::answered();
    send();
  }

 private:
  shared_run& run_;
};

/// Its memory is used once, so that it is not counted as the client's.
std::vector<double> room_for(std::uint64_t count) {
  std::vector<double> taken(count);
  taken.clear();
  return taken;
}

void carry_out(client& to, const load& records, std::uint64_t from, std::uint64_t until, int window,
               std::vector<double>& taken) {
  slot::shared_run run{to, records, from, until, window};
  std::deque<slot> slots;
  for (int i = 0; i < window; ++i) slots.emplace_back(run, taken).send();
  while (run.open > 0) to.poll(1000);
}

int closed(const arguments& given, int window, std::uint64_t count, std::uint64_t warm_up) {
  const load records(given.number("--value-size", 100));
  std::vector<double> warming = room_for(warm_up), taken = room_for(count);
  const double resident = resident_bytes();
  client to(given, "0");
  carry_out(to, records, 0, warm_up, window, warming);
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  carry_out(to, records, warm_up, warm_up + count, window, taken);
  const moment after = now();
  tell_cost(before, after, count);
  tell_memory(resident);
  if (broker.usable()) broker.tell_counts();
  tell_percentiles(taken);
  return to.report(warm_up + count);
}

/// Produces at a rate, and polls once a millisecond.
class steady_load {
 public:
  steady_load(client& to, const load& records) : to_(to), records_(records) {}

  /// choose(i): the partition, and whether the record is timed.
  template <class Choose>
  std::vector<double> run(std::uint64_t from, std::uint64_t rate, std::uint64_t count,
                          Choose&& choose) {
    std::vector<double> taken;
    std::deque<stopwatch> watches;
    const auto produce = [&](std::uint64_t i) {
      const auto [partition, timed] = choose(i);
      stopwatch* const watch = timed ? &watches.emplace_back(taken) : nullptr;
      if (watch != nullptr) watch->start();
      to_.produce(records_, from + i, watch, partition);
    };
    at_rate(rate, count, produce, [&] { to_.poll(0); });
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (taken.size() < watches.size() && std::chrono::steady_clock::now() < latest) to_.poll(1);
    if (taken.size() < watches.size()) {
      std::fprintf(stderr, "load_rdkafka: %zu timed records are not answered\n",
                   watches.size() - taken.size());
      std::_Exit(1);
    }
    return taken;
  }

 private:
  client& to_;
  const load& records_;
};

}  // namespace

int closed_loop(const arguments& given) {
  return closed(given, static_cast<int>(given.number("--window", 256)),
                given.number("--records", 100'000), given.number("--warm-up", 20'000));
}

int round_trip(const arguments& given) {
  return closed(given, 1, given.number("--records", 20'000), 2000);
}

int fixed_rate(const arguments& given) {
  const std::uint64_t rate = given.number("--rate", 10'000);
  const std::uint64_t count = rate * given.number("--milliseconds", 3000) / 1000;
  const std::uint64_t warm_up = given.number("--warm-up", 20'000);
  const load records(given.number("--value-size", 100));
  client to(given, "5");
  to.produce_many(records, 0, warm_up);
  to.flush();
  broker_watch broker(given.text("--statistics", ""));
  steady_load steady(to, records);
  const moment before = now();
  std::vector<double> taken = steady.run(warm_up, rate, count, [](std::uint64_t i) {
    return std::pair(std::int32_t{RD_KAFKA_PARTITION_UA}, i % 16 == 0);
  });
  to.flush();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  tell_percentiles(taken);
  return to.report(warm_up + count);
}

int one_silent(const arguments& given) {
  constexpr std::uint64_t partition_count = 12;
  const std::uint64_t rate = given.number("--rate", 10'000);
  const std::uint64_t count = rate * given.number("--milliseconds", 3000) / 1000;
  const std::uint64_t brokers = given.number("--brokers", 3);
  const load records(given.number("--value-size", 100));
  client to(given, "5");
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  steady_load steady(to, records);
  const auto choose = [&](std::uint64_t i) {
    const std::uint64_t index = i % partition_count;
    return std::pair(static_cast<std::int32_t>(index), index % brokers != brokers - 1);
  };
  (void)steady.run(0, rate, rate, choose);
  std::vector<double> normal = steady.run(0, rate, count, choose);
  to.flush();
  broker.silence(static_cast<std::int64_t>(brokers) - 1);
  std::vector<double> silent = steady.run(0, rate, count, choose);
  tell_percentiles(normal, "normal_");
  tell_percentiles(silent, "silent_");
  tell("answered", static_cast<double>(to.answered()));
  std::fflush(stdout);
  broker.silence(-1);
  std::_Exit(0);  // what the silent broker holds would keep its destructor waiting
}

}  // namespace partita::bench
