// Where a stage stands: brokers in virtual time, or the same model behind loopback sockets.
//
// Threads: the scenario's.
#pragma once

#include <partita/config.hpp>
#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace partita::testing {

class stage_world {
 public:
  virtual ~stage_world() = default;
  [[nodiscard]] virtual testing::cluster& cluster() = 0;
  [[nodiscard]] virtual std::unique_ptr<partita::producer> make(producer_config config) = 0;
  [[nodiscard]] virtual std::chrono::nanoseconds now() = 0;
  /// Null on loopback.
  [[nodiscard]] virtual simulation* simulated() { return nullptr; }

  static std::unique_ptr<stage_world> in_virtual_time(const cluster_options& brokers,
                                                      const link_options& links,
                                                      std::uint64_t seed);
  static std::unique_ptr<stage_world> on_loopback(const cluster_options& brokers);
};

}  // namespace partita::testing
