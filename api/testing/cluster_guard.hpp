// What every call that changes a simulated cluster holds.
//
// Threads: any; it is the model's lock.
#pragma once

#include "api/testing/cluster_core.hpp"

#include <partita/testing/cluster.hpp>

namespace partita::testing {

/// Holds the model's lock for one call, and tells the serving side afterwards that something
/// changed.
struct cluster::guard {
  explicit guard(cluster& owner) : owner_(owner), lock_(owner.core_->lock()) {}
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() {
    owner_.core_->settle_waiting();
    lock_.unlock();
    owner_.changed();
  }
  cluster& owner_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace partita::testing
