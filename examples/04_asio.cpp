// Produces from coroutines of Boost.Asio, on the application's own loop: no other thread is
// started.
//
//     04_asio [BOOTSTRAP]        default: localhost:9092
#include <partita/asio.hpp>
#include <partita/producer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;

asio::awaitable<void> produce_orders(partita::producer& producer, std::string customer, int count) {
  for (int i = 1; i <= count; ++i) {
    const std::string value = "order " + std::to_string(i);
    // Continues here, on this coroutine's executor, when the broker has answered.
    const partita::outcome answer =
        co_await producer.produce({.topic = "orders", .key = customer, .value = value});
    if (const partita::delivered* where = answer.delivery())
      std::cout << customer << ' ' << value << ": partition " << where->partition.value << '\n';
    else
      std::cout << customer << ' ' << value << ": " << answer.failure()->code.message() << '\n';
  }
}

/// Owns the producer: its end closes the connections, which lets loop.run() return.
asio::awaitable<void> run(std::unique_ptr<partita::producer> producer, int& exit_code) {
  co_await produce_orders(*producer, "ann", 5);
  co_await produce_orders(*producer, "bob", 5);
  const auto report = co_await partita::async_wait(producer->close(std::chrono::seconds(10)));
  exit_code = report.unsent.empty() ? 0 : 2;
}

int main(int argc, char** argv) {
  try {
    asio::io_context loop(1);
    partita::producer_config config;
    config.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092";
    config.client_id = "example-asio";
    int exit_code = 1;
    auto producer = partita::make_producer_on(loop, config);
    asio::co_spawn(loop, run(std::move(producer), exit_code), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
    loop.run();
    return exit_code;
  } catch (const std::exception& error) {
    std::cerr << "04_asio: " << error.what() << '\n';
    return 1;
  }
}
