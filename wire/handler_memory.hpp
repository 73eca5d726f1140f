// Memory for the one operation of a kind that a socket has under way: Asio keeps memory for its
// operations per thread, but only while that thread is inside run(), and a lane reads outside of
// it.
//
// Invariants
// 1. One operation at a time uses the block; another one, or a larger one, gets memory of its own.
//
// Lifetime: the handler keeps alive what the block is part of. Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace partita::wire {

class handler_memory {
 public:
  handler_memory() = default;
  handler_memory(const handler_memory&) = delete;
  handler_memory& operator=(const handler_memory&) = delete;

  [[nodiscard]] void* take(std::size_t bytes) {
    if (taken_ || bytes > block_.size()) return ::operator new(bytes);
    taken_ = true;
    return block_.data();
  }
  void give_back(void* memory) noexcept {
    if (memory != block_.data()) return ::operator delete(memory);
    taken_ = false;
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 256> block_;
  bool taken_ = false;
};

/// For a handler's get_allocator().
template <class T>
class handler_allocator {
 public:
  using value_type = T;

  explicit handler_allocator(handler_memory& memory) noexcept : memory_(&memory) {}
  template <class Other>
  handler_allocator(const handler_allocator<Other>& other) noexcept  // NOLINT: as allocators are
      : memory_(&other.memory()) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(memory_->take(count * sizeof(T)));
  }
  void deallocate(T* what, std::size_t) noexcept { memory_->give_back(what); }
  [[nodiscard]] handler_memory& memory() const noexcept { return *memory_; }

  template <class Other>
  friend bool operator==(const handler_allocator& one,
                         const handler_allocator<Other>& other) noexcept {
    return &one.memory() == &other.memory();
  }

 private:
  handler_memory* memory_;
};

}  // namespace partita::wire
