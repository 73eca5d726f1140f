// Pausing and resuming a partition from an actor of the application's own CAF system: messages to
// the partition's handle are processed in one order with its records.
//
//     08_caf_control [BOOTSTRAP]        default: localhost:9092
#include <partita/caf.hpp>
#include <partita/producer.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <system_error>

using namespace std::chrono_literals;

constexpr auto patience = 30s;

int main(int argc, char** argv) {
  try {
    partita::producer producer{{.bootstrap_servers = argc > 1 ? argv[1] : "localhost:9092"}};
    const auto ignore = [](const partita::outcome&) {};
    // A partition has a handle once its topic is known, which the first record sees to.
    producer.produce({.topic = "metered", .key = {}, .value = "first", .partition = 0}, ignore);
    if (!producer.flush().get().all_delivered()) return 2;

    caf::actor_system_config config;
    caf::actor_system application(config);
    caf::scoped_actor self(application);
    const caf::actor partition = partita::partition_handle(producer, "metered", 0);
    bool paused = false;
    self->request(partition, patience, partita::pause_request{})
        .receive([&](const partita::control_done&) { paused = true; },
                 [](const caf::error&) { std::cout << "no answer to the pause\n"; });

    producer.produce({.topic = "metered", .key = {}, .value = "second", .partition = 0}, ignore);
    std::uint64_t waiting = 0;
    self->request(partition, patience, partita::status_request{})
        .receive([&](const partita::partition_status& at) { waiting = at.buffered_records; },
                 [](const caf::error&) {});
    std::cout << (paused ? "paused" : "not paused") << ", " << waiting << " record waits\n";

    self->send(partition, partita::resume_request{});
    const bool delivered = producer.flush().get().all_delivered();
    std::cout << "resumed: " << (delivered ? "it was delivered" : "it was not delivered") << '\n';
    return paused && waiting == 1 && delivered ? 0 : 2;
  } catch (const std::system_error& error) {
    std::cerr << "08_caf_control: " << error.what() << '\n';
    return 1;
  }
}
