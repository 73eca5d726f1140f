// The smallest simulated cluster, for tests that are about one log: topic "t" with one partition,
// on one broker.
#pragma once

#include <partita/testing/virtual_time.hpp>

namespace partita::testing {

inline simulation_options one_partition() {
  simulation_options setup;
  setup.cluster.brokers = 1;
  setup.cluster.topics["t"].partitions = 1;
  return setup;
}

}  // namespace partita::testing
