// A record, encoded once by the thread that produced it, as a command for its partition's actor.
//
// Invariants
// 1. The tail (key, value and headers as they lie in a batch) follows the node in the same memory.
// 2. A node is released exactly once, by whoever holds it last, on any thread.
//
// Threads: made by the producing thread, then owned by one actor at a time.
#pragma once

#include <partita/record.hpp>

#include "actors/chunk_pool.hpp"
#include "actors/completion.hpp"
#include "actors/inbox.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace partita::wire {
struct lent_segment;
}

namespace partita::actors {

struct record_node : command {
  completion_target* target = nullptr;
  std::uint64_t data = 0;
  std::int64_t timestamp_ms = 0;
  std::int64_t admitted_ns = 0;  ///< steady clock, since its epoch: the delivery deadline's start
  std::uint32_t tail_size = 0;
  std::uint32_t key_hash = 0;  ///< 0: no key
  std::int32_t partition = -1;
  std::uint32_t call = 0;  ///< what the call asked for: the bits, and its own deadline
  // command::weight holds the cost in bytes that was taken from the budget.

  static constexpr std::uint32_t tracked_bit = 0x8000'0000;
  static constexpr std::uint32_t waited_bit = 0x4000'0000;
  static constexpr std::uint32_t timeout_max = waited_bit - 1;
  /// The target is a tracked_record.
  [[nodiscard]] bool tracked() const noexcept { return (call & tracked_bit) != 0; }
  /// It has waited for room: it does not wait for company as well.
  [[nodiscard]] bool waited() const noexcept { return (call & waited_bit) != 0; }
  /// In place of the partition's delivery timeout; 0: none.
  [[nodiscard]] std::chrono::milliseconds own_timeout() const noexcept {
    return std::chrono::milliseconds(call & timeout_max);
  }

  [[nodiscard]] std::span<const std::byte> tail() const noexcept {
    return {reinterpret_cast<const std::byte*>(this + 1), tail_size};
  }
  [[nodiscard]] std::span<std::byte> writable_tail() noexcept {
    return {reinterpret_cast<std::byte*>(this + 1), tail_size};
  }
};
static_assert(sizeof(record_node) == 64 && alignof(record_node) == 8);

/// Whether a record with this tail has memory of its own, which its batch takes in without a copy.
[[nodiscard]] constexpr bool lies_alone(std::uint32_t tail_size) noexcept {
  return sizeof(record_node) + tail_size > chunk_request_max;
}

/// What a record with this tail costs in the budget: everything that is allocated for it.
[[nodiscard]] constexpr std::uint64_t record_cost(std::uint64_t tail_size) noexcept {
  return sizeof(record_node) + ((tail_size + 7U) & ~std::uint64_t{7U}) + sizeof(completion_entry);
}

/// Tells the keys of a partition apart; 0 stands for no key. Two keys with one hash are halted and
/// recovered together: one in four billion pairs, and never out of order.
[[nodiscard]] std::uint32_t key_hash_of(const std::optional<std::string_view>& key) noexcept;

/// Memory for a node with a tail of that size, still to be filled. Null: out of memory.
[[nodiscard]] record_node* allocate_record_node(std::uint32_t tail_size) noexcept;

/// Encodes key, value and headers of `what` into a new node (kind, weight, tail_size and key_hash
/// are set; partition, timestamp, target and admission are the caller's). Null: out of memory.
/// `tail_size` must be wire::record_tail_size(what), which the caller needed for the budget anyway.
[[nodiscard]] record_node* make_record_node(const record& what, std::uint32_t tail_size) noexcept;

void release_record_node(record_node& node) noexcept;

/// The tail of a node that lies alone, for a batch: the memory lives until both the node is
/// released and the batch has done with it. Once.
[[nodiscard]] wire::lent_segment& lend_tail(const record_node& node) noexcept;

/// Releases many nodes with one atomic operation per run of nodes from the same chunk.
class record_releaser {
 public:
  record_releaser() noexcept = default;
  record_releaser(const record_releaser&) = delete;
  record_releaser& operator=(const record_releaser&) = delete;
  ~record_releaser() { flush(); }

  void release(record_node& node) noexcept;
  void flush() noexcept;

 private:
  chunk* chunk_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace partita::actors
