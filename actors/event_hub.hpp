// Those who want to hear of all partitions of a producer, also of partitions to come.
//
// Threads: any. Sinks are called without the lock, in the turn of the partition that tells.
#pragma once

#include "actors/control_command.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace partita::actors {

class event_hub {
 public:
  void add(std::shared_ptr<partition_event_sink> sink);
  /// Nobody listens; costs no lock.
  [[nodiscard]] bool empty() const noexcept { return empty_.load(std::memory_order_relaxed); }
  void tell(const partition_event& what) noexcept;
  /// Nothing more will happen.
  void end() noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<partition_event_sink>> sinks_;
  std::atomic<bool> empty_{true};
};

}  // namespace partita::actors
