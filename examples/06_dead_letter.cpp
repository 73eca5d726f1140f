// Dead letters in order: what failed and what waited behind it is taken out, written to another
// topic in the order in which it was produced, and the partition goes on.
//
//     06_dead_letter [BOOTSTRAP]        default: localhost:9092
//
// The failure is made here: the partition is paused for longer than its records may wait.
#include <partita/producer.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

using namespace std::chrono_literals;

const std::string topic = "readings";
const std::string dead_letters = "readings-dead";

partita::tally produce_all(partita::producer& producer, const std::vector<std::string>& values,
                           const partita::produce_options& options = {}) {
  for (const std::string& value : values)
    producer.produce({.topic = topic, .key = "sensor", .value = value, .partition = 0}, options,
                     [](const partita::outcome&) {});
  return producer.flush(topic).get();
}

int main(int argc, char** argv) {
  try {
    partita::producer producer{{.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092",
                                .on_failure = partita::failure_policy::halt_partition}};
    if (!produce_all(producer, {"20.1"}).all_delivered()) return 2;

    producer.pause(topic, 0);
    partita::produce_options short_deadline;
    short_deadline.delivery_timeout = 50ms;
    const partita::tally lost = produce_all(producer, {"20.2", "20.3"}, short_deadline);
    std::cout << lost.not_written << " readings were not written\n";
    producer.resume(topic, 0);

    partita::recovery_report report = producer.recover(topic, 0, partita::recovery::take).get();
    for (const partita::taken_record& each : report.taken) {
      const std::string reason = each.answer.code.message();
      const partita::header why{"reason", reason};
      producer.produce({.topic = dead_letters,
                        .key = each.record.key,
                        .value = each.record.value,
                        .headers = {&why, 1},
                        .partition = 0},
                       [](const partita::outcome&) {});
      std::cout << "dead letter " << each.record.value.value_or("") << ": " << reason << '\n';
    }
    const bool kept = producer.flush(dead_letters).get().all_delivered();
    const bool goes_on = produce_all(producer, {"20.4"}).all_delivered();
    return kept && goes_on && report.taken.size() == lost.not_written ? 0 : 2;
  } catch (const std::system_error& error) {
    std::cerr << "06_dead_letter: " << error.what() << '\n';
    return 1;
  }
}
