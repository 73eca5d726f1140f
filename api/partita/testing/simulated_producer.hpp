// A producer inside a simulation: its lanes, clocks and network are the simulation's, so the same
// seed gives the same run, to the last byte and the last microsecond.
//
// Invariants
// 1. Nothing of it runs but inside the simulation's virtual_time::step().
// 2. It is destroyed before its simulation.
//
// Threads: one thread, the simulation's.
#pragma once

#include <partita/config.hpp>
#include <partita/producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <cstdint>
#include <memory>

namespace partita::testing {

struct simulated_producer_options {
  int lanes = 1;
  std::uint64_t seed = 1;  ///< of the producer's own draws and of the order in which its actors run
};

/// Throws what the constructor of producer throws. `bootstrap_servers` may be left empty: the
/// simulation's own are taken.
[[nodiscard]] std::unique_ptr<producer> make_producer(
    simulation& world, producer_config config, const simulated_producer_options& options = {});

/// Runs the world until the operation is done and returns its result. It must end by itself.
template <class T>
T wait_for(simulation& world, operation<T> pending,
           std::chrono::nanoseconds limit = std::chrono::hours(1)) {
  world.time().run_until([&] { return pending.done(); }, limit);
  return std::move(pending).get();
}

}  // namespace partita::testing
