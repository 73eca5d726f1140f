// Faults that producers meet, as scripts that any client can be taken through: what the brokers do
// is exact, what the client makes of it is compared with the log.
//
// Ids are those of the catalogue of scenarios that the simulated tests follow.
//
// Invariants
// 1. Every wait of a script is bounded; one that is not fulfilled shows in the outcomes.
//
// Threads: one script, one thread.
#pragma once

#include "peers/peer_process.hpp"

#include <partita/testing/cluster.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace partita::peers {

struct peer_limits {
  std::chrono::milliseconds delivery{6000};
  std::chrono::milliseconds request{1000};
  std::chrono::milliseconds linger{0};
  /// Records are: franz-go counts its deadline from their timestamps and gets none.
  bool back_dated = false;
};

/// A client and its brokers while a script runs. Topic t has three partitions, p0 led by broker 1.
class stage {
 public:
  stage(testing::loopback_cluster& cluster, peer_process& client, const peer_limits& limits)
      : cluster(cluster), client(client), limits_(limits) {}

  void produce(const std::string& name, int partition = 0,
               std::optional<std::int64_t> timestamp = std::nullopt);
  void await(const std::string& name);
  void cancel(const std::string& name);
  /// Clients other than partita know no halt and pass over it.
  void recover(int partition = 0);
  void wait(std::chrono::milliseconds time) const;
  /// Until so many attempts have met their faults, and a moment more for the answer to arrive.
  void faults(std::uint64_t count) const;
  void stored(std::size_t records, int partition = 0) const;

  /// An attempt to send the record of this name: `+` executes it, `-` does not.
  testing::fault attempt(const std::string& name, testing::execution execution,
                         testing::reply reply, broker_errc code = broker_errc::none,
                         int times = 1) const;

  testing::loopback_cluster& cluster;
  peer_process& client;
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  peer_limits limits_;
  std::vector<std::string> names_;
};

struct fault_script {
  std::string id;
  std::string what;
  std::function<void(stage&)> run;
  peer_limits limits{};
  bool cold = false;             ///< no record was delivered before
  bool needs_cancel = false;     ///< clients that can not cancel are left out
  bool goes_on_by_will = false;  ///< the script lets later records pass a failed one
};

const std::vector<fault_script>& fault_scripts();

}  // namespace partita::peers
