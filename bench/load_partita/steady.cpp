// Records at a fixed rate, by callbacks: with all brokers well, and with one of them silent.
#include "bench/load_partita/answers.hpp"
#include "bench/load_partita/modes.hpp"

namespace partita::bench {
namespace {

using clock = std::chrono::steady_clock;

void note(std::vector<double>& into, clock::time_point since) {
  into.push_back(std::chrono::duration<double, std::micro>(clock::now() - since).count());
}

/// The partitions of the silent broker get their records too, and nobody waits for these.
class split_load {
 public:
  static constexpr std::uint64_t partition_count = 12;

  split_load(producer& to, const load& records, std::uint64_t brokers)
      : to_(to), records_(records), brokers_(brokers) {}

  /// For so long, at this rate; then until all timed records are answered, or 10 s.
  std::vector<double> run(std::uint64_t rate, std::uint64_t milliseconds) {
    std::vector<double> taken;
    at_rate(
        rate, rate * milliseconds / 1000, [&](std::uint64_t i) { produce(i, taken); }, [] {});
    const auto latest = clock::now() + std::chrono::seconds(10);
    while (timed_answers.answered() < timed_ && clock::now() < latest)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return taken;
  }
  [[nodiscard]] std::uint64_t timed() const { return timed_; }
  [[nodiscard]] std::uint64_t others() const { return others_; }

  answers timed_answers, other_answers;

 private:
  void produce(std::uint64_t i, std::vector<double>& taken) {
    const std::uint64_t index = i % partition_count;
    record next = numbered(records_, i);
    next.partition = partition_id(static_cast<std::int32_t>(index));
    if (index % brokers_ == brokers_ - 1) {
      ++others_;
      produce_one(to_, next, other_answers,
                  [this](const outcome& answer) { other_answers.take(answer); });
      return;
    }
    ++timed_;
    produce_one(to_, next, timed_answers,
                [this, &taken, since = clock::now()](const outcome& answer) {
                  note(taken, since);
                  timed_answers.take(answer);
                });
  }

  producer& to_;
  const load& records_;
  const std::uint64_t brokers_;
  std::uint64_t timed_ = 0, others_ = 0;
};

}  // namespace

int fixed_rate(producer_config config, const arguments& given) {
  const std::uint64_t rate = given.number("--rate", 10'000);
  const std::uint64_t count = rate * given.number("--milliseconds", 3000) / 1000;
  const std::uint64_t warm_up = given.number("--warm-up", 20'000);
  const load records(given.number("--value-size", 100));
  answers counts;
  std::vector<double> taken;
  taken.reserve(count / 16 + 1);
  producer to(config);
  produce_many(to, records, counts, 0, warm_up);
  (void)to.flush().get();
  broker_watch broker(given.text("--statistics", ""));
  const auto produce = [&](std::uint64_t i) {
    if (i % 16 != 0) return produce_many(to, records, counts, warm_up + i, warm_up + i + 1);
    produce_one(to, numbered(records, warm_up + i), counts,
                [&, since = clock::now()](const outcome& answer) {
                  note(taken, since);
                  counts.take(answer);
                });
  };
  const moment before = now();
  at_rate(rate, count, produce, [] {});
  (void)to.flush().get();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  tell_percentiles(taken);
  return counts.report(warm_up + count);
}

int one_silent(producer_config config, const arguments& given) {
  const std::uint64_t rate = given.number("--rate", 10'000);
  const std::uint64_t length = given.number("--milliseconds", 3000);
  const std::uint64_t brokers = given.number("--brokers", 3);
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  const load records(given.number("--value-size", 100));
  producer to(config);
  split_load both(to, records, brokers);
  (void)both.run(rate, 1000);
  std::vector<double> normal = both.run(rate, length);
  (void)to.flush().get();
  const std::uint64_t others_before = both.others();
  broker.silence(static_cast<std::int64_t>(brokers) - 1);
  std::vector<double> silent = both.run(rate, length);
  const bool was_silent = both.other_answers.answered() == others_before;
  const bool all_answered =
      both.timed_answers.answered() == both.timed() && both.timed_answers.failed() == 0;
  tell_percentiles(normal, "normal_");
  tell_percentiles(silent, "silent_");
  tell("answered", static_cast<double>(both.timed_answers.answered() + others_before));
  (void)to.close(std::chrono::milliseconds(100)).get();
  broker.silence(-1);
  if (was_silent && all_answered) return 0;
  std::fprintf(stderr, "load_partita: %s\n",
               was_silent ? "timed records are not delivered" : "the broker was not silent");
  return 1;
}

}  // namespace partita::bench
