// Growing byte sequences without reallocation: chains of fixed blocks, from a pool or the heap.
//
// Invariants
// 1. Bytes once appended never move; a span handed out stays valid until the chain is cleared or
//    dies.
// 2. A chain with a pool takes and gives back every block there, so it must die on the lane that
//    owns the pool, and the pool outlives its chains. A chain without a pool may die on any
//    thread.
// 3. Lent memory is part of a chain without a copy, is never written to, and is told once when the
//    chain has done with it.
// 4. A pool keeps at most free_blocks_max idle blocks, last used first, so that the hot blocks
//    stay in the cache; outstanding() counts those in chains.
//
// Threads: a pool may be shared by lanes (its mutex is taken once for 16 KiB); a chain has one
// owner at a time.
#pragma once

#include <partita/contract.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace partita::wire {

inline constexpr std::size_t segment_bytes = 16 * 1024;  ///< a block with its header

/// One block. Its bytes follow the header in the same allocation, unless they are lent.
struct segment {
  segment* next = nullptr;
  std::size_t used = 0;  ///< of a chain's last block only the chain knows it
  bool lent = false;

  [[nodiscard]] inline const std::byte* begin() const noexcept;
  /// Of a block of the chain's own.
  [[nodiscard]] std::byte* own() noexcept {
    PARTITA_ASSERT(!lent);
    return reinterpret_cast<std::byte*>(this + 1);
  }
};

/// Memory that a chain takes in as it is. It belongs to whoever made it, who is told when the chain
/// has done with it; in one chain at a time.
struct lent_segment : segment {
  lent_segment(std::span<const std::byte> lent_bytes, void (*told)(lent_segment&) noexcept)
      : bytes(lent_bytes), done(told) {
    lent = true;
  }

  std::span<const std::byte> bytes;
  void (*done)(lent_segment&) noexcept;
};

inline const std::byte* segment::begin() const noexcept {
  return lent ? static_cast<const lent_segment*>(this)->bytes.data()
              : reinterpret_cast<const std::byte*>(this + 1);
}

inline constexpr std::size_t segment_capacity = segment_bytes - sizeof(segment);

class segment_pool {
 public:
  explicit segment_pool(std::size_t free_blocks_max = 256) noexcept
      : free_blocks_max_(free_blocks_max) {}
  segment_pool(const segment_pool&) = delete;
  segment_pool& operator=(const segment_pool&) = delete;
  ~segment_pool();

  [[nodiscard]] segment* take();
  void give_back(segment* block) noexcept;

  [[nodiscard]] std::size_t outstanding() const noexcept;
  [[nodiscard]] std::size_t free_blocks() const noexcept;

 private:
  mutable std::mutex mutex_;
  segment* free_ = nullptr;
  std::size_t free_blocks_ = 0;
  std::size_t free_blocks_max_;
  std::size_t outstanding_ = 0;
};

class segment_chain {
 public:
  explicit segment_chain(segment_pool* pool = nullptr) noexcept : pool_(pool) {}
  segment_chain(segment_chain&& other) noexcept { swap(other); }
  segment_chain& operator=(segment_chain&& other) noexcept {
    if (this != &other) {
      clear();
      swap(other);
    }
    return *this;
  }
  ~segment_chain() { clear(); }

  [[nodiscard]] std::size_t size() const noexcept {
    return closed_bytes_ + static_cast<std::size_t>(cursor_ - tail_begin_);
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] segment_pool* pool() const noexcept { return pool_; }
  /// Bytes of its own memory, blocks in full.
  [[nodiscard]] std::size_t footprint() const noexcept { return blocks_ * segment_bytes; }

  void append(const void* bytes, std::size_t count) {
    if (count <= static_cast<std::size_t>(end_ - cursor_)) [[likely]] {
      if (count != 0) std::memcpy(cursor_, bytes, count);
      cursor_ += count;
    } else {
      append_across_blocks(static_cast<const std::byte*>(bytes), count);
    }
  }
  void append(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }

  /// Appends the memory itself. It must stay unchanged until it is told that it is done with.
  void lend(lent_segment& piece);

  /// Contiguous room for at least `count` bytes (at most segment_capacity), to be written directly
  /// and kept by commit(). What is left of the current block is skipped when it is too small.
  [[nodiscard]] std::byte* prepare(std::size_t count) {
    PARTITA_EXPECTS(count <= segment_capacity, count);
    if (count > static_cast<std::size_t>(end_ - cursor_)) open_block();
    return cursor_;
  }
  /// The room behind prepare()'s pointer.
  [[nodiscard]] std::size_t room() const noexcept {
    return static_cast<std::size_t>(end_ - cursor_);
  }
  /// Keeps what was written up to `behind_last`.
  void commit(std::byte* behind_last) {
    PARTITA_EXPECTS(behind_last >= cursor_ && behind_last <= end_);
    cursor_ = behind_last;
  }

  /// Calls visit(std::span<const std::byte>) for every block, in order, from byte `from` on.
  template <class Visit>
  void for_each(Visit&& visit, std::size_t from = 0) const {
    for (const segment* block = head_; block != nullptr; block = block->next) {
      const std::size_t used = used_of(block);
      if (from >= used) {
        from -= used;
        continue;
      }
      visit(std::span<const std::byte>(block->begin() + from, used - from));
      from = 0;
    }
  }

  /// Overwrites bytes that exist already.
  void patch(std::size_t position, std::span<const std::byte> bytes);
  /// Copies bytes out; the range must exist.
  void read(std::size_t position, std::span<std::byte> out) const;
  /// A copy in one piece, from byte `from` on.
  [[nodiscard]] std::vector<std::byte> flatten(std::size_t from = 0) const;

  void clear() noexcept;
  void swap(segment_chain& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(head_, other.head_);
    std::swap(tail_, other.tail_);
    std::swap(tail_begin_, other.tail_begin_);
    std::swap(cursor_, other.cursor_);
    std::swap(end_, other.end_);
    std::swap(closed_bytes_, other.closed_bytes_);
    std::swap(blocks_, other.blocks_);
  }

 private:
  [[nodiscard]] std::size_t used_of(const segment* block) const noexcept {
    return block == tail_ ? static_cast<std::size_t>(cursor_ - tail_begin_) : block->used;
  }
  void open_block();
  void link(segment& block, const std::byte* begin) noexcept;
  void append_across_blocks(const std::byte* bytes, std::size_t count);

  segment_pool* pool_ = nullptr;
  segment* head_ = nullptr;
  segment* tail_ = nullptr;
  const std::byte* tail_begin_ = nullptr;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t closed_bytes_ = 0;  ///< in the blocks before the last
  std::size_t blocks_ = 0;
};

}  // namespace partita::wire
