// Coroutines that await the answer to one record before they produce the next.
#include "bench/load_partita/answers.hpp"
#include "bench/load_partita/modes.hpp"

#include <coroutine>
#include <exception>

namespace partita::bench {
namespace {

/// A coroutine that starts at once.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// The records with the numbers [from, until), shared by the coroutines of one run.
struct shared_run {
  shared_run(std::uint64_t first, std::uint64_t end, int coroutines)
      : from(first), until(end), next(first), running(coroutines), microseconds(end - first) {}

  const std::uint64_t from, until;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> failed{0};
  std::atomic<int> running;
  std::vector<double> microseconds;
  std::binary_semaphore done{0};
};

detached one_at_a_time(producer& to, const load& records, shared_run& run) {
  for (std::uint64_t i; (i = run.next.fetch_add(1, std::memory_order_relaxed)) < run.until;) {
    const auto start = std::chrono::steady_clock::now();
    const outcome answer = co_await to.produce(numbered(records, i));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (!answer) ++run.failed;
    run.microseconds[i - run.from] = took.count();
  }
  if (run.running.fetch_sub(1) == 1) run.done.release();
}

void carry_out(producer& to, const load& records, shared_run& run) {
  for (int left = run.running; left > 0; --left) one_at_a_time(to, records, run);
  run.done.acquire();
}

int closed(const producer_config& config, const arguments& given, int window, std::uint64_t count,
           std::uint64_t warm_up) {
  const load records(given.number("--value-size", 100));
  shared_run warming(0, warm_up, window), measured(warm_up, warm_up + count, window);
  const double resident = resident_bytes();
  producer to(config);
  carry_out(to, records, warming);
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  carry_out(to, records, measured);
  const moment after = now();
  tell_cost(before, after, count);
  tell_memory(resident);
  if (broker.usable()) broker.tell_counts();
  tell_percentiles(measured.microseconds);
  tell("answered", static_cast<double>(warm_up + count));
  if (warming.failed + measured.failed == 0) return 0;
  std::fprintf(stderr, "load_partita: %llu records were not delivered\n",
               static_cast<unsigned long long>(warming.failed + measured.failed));
  return 1;
}

}  // namespace

int closed_loop(producer_config config, const arguments& given) {
  return closed(config, given, static_cast<int>(given.number("--window", 256)),
                given.number("--records", 100'000), given.number("--warm-up", 20'000));
}

int round_trip(producer_config config, const arguments& given) {
  config.linger = std::chrono::microseconds(0);
  return closed(config, given, 1, given.number("--records", 20'000), 2000);
}

}  // namespace partita::bench
