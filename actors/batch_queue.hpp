// A first-in first-out list of batches through a link in the batch: an idle partition pays two
// pointers.
//
// Invariants
// 1. A batch is in at most one queue.
// 2. Batches are in the order of their first records.
//
// Threads: owned by one partition.
#pragma once

#include "actors/batch.hpp"

#include <partita/contract.hpp>

#include <cstddef>

namespace partita::actors {

class batch_queue {
 public:
  batch_queue() noexcept = default;
  batch_queue(const batch_queue&) = delete;
  batch_queue& operator=(const batch_queue&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] batch* front() const noexcept { return first_; }
  [[nodiscard]] batch* back() const noexcept { return last_; }
  [[nodiscard]] static batch* after(const batch& member) noexcept { return member.next_in_queue; }

  void push_back(batch& added) {
    PARTITA_ASSERT(added.next_in_queue == nullptr);
    (last_ == nullptr ? first_ : last_->next_in_queue) = &added;
    last_ = &added;
    ++size_;
  }

  void push_front(batch& added) {
    PARTITA_ASSERT(added.next_in_queue == nullptr);
    added.next_in_queue = first_;
    first_ = &added;
    if (last_ == nullptr) last_ = &added;
    ++size_;
  }

  /// Behind everything that was produced before it.
  void insert_by_order(batch& added) {
    PARTITA_ASSERT(added.next_in_queue == nullptr);
    if (last_ == nullptr || last_->first_ordinal() < added.first_ordinal()) return push_back(added);
    batch* before = nullptr;
    for (batch* at = first_; at != nullptr && at->first_ordinal() < added.first_ordinal();
         at = at->next_in_queue)
      before = at;
    batch*& link = before == nullptr ? first_ : before->next_in_queue;
    added.next_in_queue = link;
    link = &added;
    if (added.next_in_queue == nullptr) last_ = &added;
    ++size_;
  }

  batch* pop_front() {
    PARTITA_ASSERT(first_ != nullptr);
    batch* taken = first_;
    first_ = taken->next_in_queue;
    if (first_ == nullptr) last_ = nullptr;
    taken->next_in_queue = nullptr;
    --size_;
    return taken;
  }

 private:
  batch* first_ = nullptr;
  batch* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace partita::actors
