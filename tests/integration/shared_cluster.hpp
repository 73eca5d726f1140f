// The one cluster of a test program: starting brokers takes longer than most tests.
//
// Invariants
// 1. It starts when the first test asks for it and ends with the last test, also if tests failed.
// 2. Tests share brokers, never topics, and each leaves all brokers running.
// Threads: one at a time.
#pragma once

#include "integration/kafka_cluster.hpp"

#include <string>

namespace partita::testing {

/// Says what the program's cluster is like. At namespace scope of one source of the program.
class shared_cluster {
 public:
  explicit shared_cluster(int brokers, std::vector<std::string> settings = {});

  /// The cluster, of the version under test.
  static kafka_cluster& get();
  /// Where the only broker of a cluster of one keeps its logs.
  static const std::string& log_directory();
};

}  // namespace partita::testing
