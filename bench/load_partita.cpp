// One measured run of partita against a null broker; compare starts it.
//
//     load_partita MODE --bootstrap HOST:PORT,... [--statistics FILE] [--records N] [--value-size
//     N]
//
//     saturate     callbacks, flat out; CPU, rate and allocations per record
//     round_trip   one record at a time by co_await, linger 0; percentiles
//     pipeline     one partition, flat out; batches per round trip of --delay-ms
#include "bench/load.hpp"

#include <partita/producer.hpp>

#include <atomic>
#include <coroutine>
#include <exception>
#include <semaphore>
#include <system_error>

namespace partita::bench {
namespace {

/// Counts answers on the lane and lets the producing thread wait for room.
class answers {
 public:
  /// Called by one lane only, so that a plain store will do.
  void take(const outcome& answer) noexcept {
    if (!answer)
      failed_.store(failed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::uint64_t count = answered_.load(std::memory_order_relaxed) + 1;
    answered_.store(count, std::memory_order_release);
    if (count % wake_every == 0 && waiting_.load(std::memory_order_relaxed) &&
        waiting_.exchange(false))
      room_.release();
  }
  /// Until some answers came. The limit in time covers an answer that fell before the mark was set.
  void wait() {
    waiting_.store(true);
    ++waits_;
    if (!room_.try_acquire_for(std::chrono::milliseconds(1))) {
      if (!waiting_.exchange(false)) room_.acquire();
    }
  }
  [[nodiscard]] std::uint64_t answered() const { return answered_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t failed() const { return failed_.load(); }
  [[nodiscard]] std::uint64_t waits() const { return waits_; }

 private:
  static constexpr std::uint64_t wake_every = 1024;

  std::atomic<std::uint64_t> answered_{0}, failed_{0};
  std::atomic<bool> waiting_{false};
  std::binary_semaphore room_{0};
  std::uint64_t waits_ = 0;
};

void produce_many(producer& to, const load& records, answers& counts, std::uint64_t from,
                  std::uint64_t until) {
  for (std::uint64_t i = from; i < until; ++i) {
    const record next{.topic = "partita", .key = records.key(i), .value = records.value(i)};
    while (to.try_produce(next, [&counts](const outcome& answer) { counts.take(answer); }) ==
           admission::full)
      counts.wait();
  }
}

int report(const answers& counts, std::uint64_t produced) {
  tell("waits_for_room", static_cast<double>(counts.waits()));
  if (counts.failed() == 0 && counts.answered() == produced) return 0;
  std::fprintf(stderr, "load_partita: %llu of %llu records answered, %llu not delivered\n",
               static_cast<unsigned long long>(counts.answered()),
               static_cast<unsigned long long>(produced),
               static_cast<unsigned long long>(counts.failed()));
  return 1;
}

/// The window is kept near the cache: a backlog of the size of buffer.memory only costs.
int saturate(producer_config config, const arguments& given) {
  const std::uint64_t count = given.number("--records", 2'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  config.linger = std::chrono::microseconds(given.number("--linger-us", 5000));
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
  if (broker.usable()) {
    broker.tell_counts();
    if (broker.records() != count) {
      std::fprintf(stderr, "load_partita: the broker saw %llu records\n",
                   static_cast<unsigned long long>(broker.records()));
      return 1;
    }
  }
  return report(counts, warm_up + count);
}

int pipeline(producer_config config, const arguments& given) {
  config.linger = std::chrono::milliseconds(5);
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
  return report(counts, made);
}

/// A coroutine that starts at once and tells the main thread when it is over.
struct closed_loop {
  struct promise_type {
    closed_loop get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

struct samples {
  std::vector<double> microseconds;
  std::uint64_t failed = 0;
  std::binary_semaphore done{0};
};

closed_loop one_at_a_time(producer& to, const load& records, std::uint64_t warm_up,
                          std::uint64_t count, samples& into) {
  for (std::uint64_t i = 0; i < warm_up + count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const outcome answer =
        co_await to.produce({.topic = "partita", .key = records.key(i), .value = records.value(i)});
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (!answer) ++into.failed;
    if (i >= warm_up) into.microseconds.push_back(took.count());
  }
  into.done.release();
}

int round_trip(producer_config config, const arguments& given) {
  config.linger = std::chrono::microseconds(0);
  const std::uint64_t count = given.number("--records", 20'000);
  const load records(given.number("--value-size", 100));
  samples taken;
  taken.microseconds.reserve(count);
  producer to(config);
  one_at_a_time(to, records, 2000, count, taken);
  taken.done.acquire();
  tell_percentiles(taken.microseconds);
  return taken.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  const partita::bench::arguments given(argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  partita::producer_config config;
  config.bootstrap_servers = given.text("--bootstrap", "localhost:9092");
  config.log_level = 4;
  config.log = [](void*, int, std::string_view line) {
    static std::atomic<int> lines{0};
    if (lines.fetch_add(1) < 10)
      std::fprintf(stderr, "load_partita: %.*s\n", static_cast<int>(line.size()), line.data());
  };
  try {
    if (mode == "saturate") return partita::bench::saturate(config, given);
    if (mode == "round_trip") return partita::bench::round_trip(config, given);
    if (mode == "pipeline") return partita::bench::pipeline(config, given);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "load_partita: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "load_partita: saturate, round_trip or pipeline?\n");
  return 2;
}
