// Produces one record from a coroutine and says what became of it.
//
//     01_hello [BOOTSTRAP]        default: localhost:9092
#include <partita/producer.hpp>

#include <coroutine>
#include <exception>
#include <future>
#include <iostream>
#include <string>
#include <system_error>

/// The smallest coroutine type that a plain main() can wait for; any other one serves as well.
struct task {
  struct promise_type {
    std::promise<int> result;
    task get_return_object() { return {result.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(int code) { result.set_value(code); }
    void unhandled_exception() { result.set_exception(std::current_exception()); }
  };
  std::future<int> result;
};

task hello(partita::producer& producer) {
  partita::outcome answer =
      co_await producer.produce({.topic = "orders", .key = "42", .value = "paid"});

  if (const partita::delivered* where = answer.delivery()) {
    std::cout << "delivered to partition " << where->partition.value;
    if (where->offset) std::cout << " at offset " << where->offset->value;
    std::cout << '\n';
    co_return 0;
  }
  const partita::failed& why = *answer.failure();
  const bool unknown = why.fate == partita::fate::unknown;
  std::cout << (unknown ? "may have been written: " : "not written: ") << why.code.message()
            << '\n';
  co_return unknown ? 3 : 2;
}

int main(int argc, char** argv) {
  try {
    partita::producer producer{{.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092"}};
    return hello(producer).result.get();
  } catch (const std::system_error& error) {
    std::cerr << "01_hello: " << error.what() << '\n';
    return 1;
  }
}
