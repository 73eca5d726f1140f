// Batches for all partitions of a producer, used again last in first out so that their memory is
// warm.
//
// Invariants
// 1. At most `kept_max` idle batches are kept; their entries are trimmed when they grew large.
//
// Threads: any; a batch is taken and given back once per request, so a mutex costs nothing that
// counts.
#pragma once

#include "actors/batch.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace partita::actors {

class batch_pool {
 public:
  static constexpr std::size_t kept_max = 256;

  [[nodiscard]] batch* take(void* owner) {
    std::unique_ptr<batch> found;
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        found = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!found) return new batch(&segments_, owner);
    found->set_owner(owner);
    return found.release();
  }

  void give_back(batch* finished) {
    std::unique_ptr<batch> kept(finished);
    kept->reset();
    std::lock_guard lock(mutex_);
    if (idle_.size() < kept_max) idle_.push_back(std::move(kept));
  }

 private:
  wire::segment_pool segments_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<batch>> idle_;
};

}  // namespace partita::actors
