// Who waits for a producer id, and which id they get. Pure: the metadata actor asks the cluster.
//
// All partitions share the producer's id, each with an epoch and sequence of its own; one that has
// used up its epochs, or may not bump, gets a new id for itself alone (KIP-360 at 32767).
//
// Invariants
// 1. A partition that waits is answered once.
// 2. A fresh id is given to one partition only, and was never given before.
//
// Threads: owned by one actor.
#pragma once

#include <partita/ids.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace partita::actors {

class partition_actor;

class id_source {
 public:
  struct grant {
    partition_actor* to;
    producer_id id;
  };

  /// Returns the answer if it is known already.
  [[nodiscard]] producer_id want(partition_actor& asking, bool fresh) {
    if (!fresh && shared_.known()) return shared_;
    (fresh ? wait_for_own_ : wait_for_shared_).push_back(&asking);
    return {};
  }

  /// Whether the cluster must be asked (for one id at a time).
  [[nodiscard]] bool hungry() const noexcept {
    return !wait_for_shared_.empty() || !wait_for_own_.empty();
  }

  template <class Visit>
  void for_each_waiting(Visit&& visit) const {
    for (partition_actor* each : wait_for_shared_) visit(*each);
    for (partition_actor* each : wait_for_own_) visit(*each);
  }

  /// The cluster gave an id: who gets it.
  [[nodiscard]] std::vector<grant> feed(producer_id id) {
    std::vector<grant> grants;
    if (!wait_for_shared_.empty()) {
      shared_ = id;
      for (partition_actor* each : std::exchange(wait_for_shared_, {}))
        grants.push_back({each, id});
    } else if (!wait_for_own_.empty()) {
      grants.push_back({wait_for_own_.front(), id});
      wait_for_own_.erase(wait_for_own_.begin());
    }
    return grants;
  }

  /// The cluster refuses for good: who must be told.
  [[nodiscard]] std::vector<partition_actor*> refuse() {
    std::vector<partition_actor*> told = std::exchange(wait_for_shared_, {});
    told.insert(told.end(), wait_for_own_.begin(), wait_for_own_.end());
    wait_for_own_.clear();
    return told;
  }

 private:
  producer_id shared_;
  std::vector<partition_actor*> wait_for_shared_;
  std::vector<partition_actor*> wait_for_own_;
};

}  // namespace partita::actors
