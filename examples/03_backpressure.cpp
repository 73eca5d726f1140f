// Produces faster than a small buffer can take: try_produce() says when there is no room, and the
// program waits for answers in place of filling memory.
//
//     03_backpressure [BOOTSTRAP]        default: localhost:9092
#include <partita/producer.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <string>
#include <system_error>

/// What the callbacks tell the producing thread.
struct progress {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t answered = 0;
  partita::tally counts;

  void answer(const partita::outcome& result) {
    std::lock_guard lock(mutex);
    ++answered;
    if (result)
      ++counts.delivered;
    else if (result.failure()->fate == partita::fate::unknown)
      ++counts.unknown;
    else
      ++counts.not_written;
    changed.notify_one();
  }
  void wait_for_an_answer(std::uint64_t seen) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return answered != seen; });
  }
  std::uint64_t seen() {
    std::lock_guard lock(mutex);
    return answered;
  }
};

int main(int argc, char** argv) {
  try {
    partita::producer_config config;
    config.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092";
    config.buffer_memory_bytes = 256 * 1024;  // everything that is not answered has to fit
    config.batch_size_bytes = 16 * 1024;
    config.on_failure = partita::failure_policy::skip;

    progress state;  // declared first: the producer's callbacks use it to the end
    partita::producer producer(config);
    const std::string value(1000, 'x');
    std::uint64_t waits = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::string key = std::to_string(i % 100);
      for (;;) {
        const std::uint64_t seen = state.seen();
        const partita::admission taken = producer.try_produce(
            {.topic = "orders", .key = key, .value = value},
            [&state](const partita::outcome& result) { state.answer(result); });
        if (taken != partita::admission::full) break;
        ++waits;
        state.wait_for_an_answer(seen);
      }
    }
    // Ends by the deadline, whatever the brokers do; what was never sent is handed back.
    const partita::close_report report = producer.close(std::chrono::seconds(30)).get();
    std::cout << state.counts.delivered << " delivered, " << state.counts.not_written
              << " not written, " << state.counts.unknown << " unknown; waited for room " << waits
              << " times; " << report.unsent.size() << " handed back\n";
    return state.counts.all_delivered() ? 0 : 2;
  } catch (const std::system_error& error) {
    std::cerr << "03_backpressure: " << error.what() << '\n';
    return 1;
  }
}
