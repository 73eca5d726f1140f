// Order of a key across a failure: what fails halts the records behind it, and one call sends it
// again before them.
//
//     05_keyed_order [BOOTSTRAP]        default: localhost:9092
//
// The failure is made here: the partition is paused for longer than one record may wait.
#include <partita/producer.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

using namespace std::chrono_literals;

const std::string topic = "order-events";

/// Produces one event of an order and waits for its outcome.
partita::outcome tell(partita::producer& producer, const std::string& event,
                      partita::produce_options options = {}) {
  auto answer = std::make_shared<std::promise<partita::outcome>>();
  producer.produce({.topic = topic, .key = "order-1", .value = event, .partition = 0}, options,
                   [answer](const partita::outcome& result) { answer->set_value(result); });
  partita::outcome result = answer->get_future().get();
  std::cout << event << ": "
            << (result ? "delivered" : "not delivered, " + result.failure()->code.message())
            << '\n';
  return result;
}

int main(int argc, char** argv) {
  try {
    partita::producer producer{{.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092",
                                .on_failure = partita::failure_policy::halt_partition}};
    if (!tell(producer, "created")) return 2;

    producer.pause(topic, 0);
    partita::produce_options short_deadline;
    short_deadline.delivery_timeout = 50ms;
    if (tell(producer, "paid", short_deadline)) return 2;  // fails, and halts what comes after it
    producer.resume(topic, 0);
    if (tell(producer, "shipped")) return 2;  // refused: it must not overtake "paid"

    // The application has seen the failure. It sends the failed event again, then the refused one.
    partita::recovery_report report = producer.recover(topic, 0, partita::recovery::resubmit).get();
    for (const auto& [number, again] : report.resubmitted)
      std::cout << "paid: " << (again ? "delivered" : again.failure()->code.message()) << '\n';
    return tell(producer, "shipped") && report.resubmitted.size() == 1 ? 0 : 2;
  } catch (const std::system_error& error) {
    std::cerr << "05_keyed_order: " << error.what() << '\n';
    return 1;
  }
}
