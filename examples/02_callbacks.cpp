// Produces with callbacks, sends a header and a tombstone, and counts the answers.
//
//     02_callbacks [BOOTSTRAP]        default: localhost:9092
#include <partita/producer.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <iostream>
#include <string>
#include <system_error>

int main(int argc, char** argv) {
  try {
    partita::producer_config config;
    config.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092";
    config.compression = partita::compression::lz4;

    // A callback runs on a thread of the producer, in the order of its partition: keep it short.
    std::atomic<int> delivered{0};
    const auto count = [&delivered](const partita::outcome& answer) {
      if (answer) ++delivered;
    };

    partita::producer producer(config);
    const std::array headers = {partita::header{.key = "source", .value = "example"}};
    for (int i = 0; i < 100; ++i) {
      const std::string key = "customer-" + std::to_string(i % 10);
      const std::string value = "order " + std::to_string(i);
      // The bytes are copied before produce() returns.
      producer.produce({.topic = "orders", .key = key, .value = value, .headers = headers}, count);
    }
    // No value: a tombstone, which deletes the key from a compacted topic.
    producer.produce({.topic = "orders", .key = "customer-0"}, count);

    // Several under one admission: all of them are taken, or none. `at` is the place in the call.
    const std::array pair = {partita::record{.topic = "orders", .key = "debit", .value = "-5"},
                             partita::record{.topic = "orders", .key = "credit", .value = "5"}};
    producer.produce_batch(pair, [&](std::size_t at, const partita::outcome& answer) {
      count(answer);
      if (!answer) std::cerr << *pair[at].key << " was not delivered\n";
    });

    // Done when everything that was produced before it is answered.
    const partita::tally last = producer.flush().get();
    std::cout << delivered << " of 103 delivered\n";
    if (last.unknown > 0) std::cout << last.unknown << " may have been written\n";
    return delivered == 103 ? 0 : 2;
  } catch (const std::system_error& error) {
    std::cerr << "02_callbacks: " << error.what() << '\n';
    return 1;
  }
}
