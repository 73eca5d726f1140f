#include "actors/chunk_pool.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define PARTITA_POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define PARTITA_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define PARTITA_POISON(address, size) static_cast<void>(0)
#define PARTITA_UNPOISON(address, size) static_cast<void>(0)
#endif

namespace partita::actors {

class chunk {
 public:
  std::atomic<std::uint32_t> references{0};
  std::uint32_t used = 0;       // bytes, this header included; the filling thread's
  std::uint32_t allocated = 0;  // nodes; the filling thread's
  chunk* next_free = nullptr;   // the pool's
};

namespace {

constexpr std::uint32_t header_bytes = 64;
static_assert(sizeof(chunk) <= header_bytes);

// The filling thread's share of the count. More than a chunk can hold nodes.
constexpr std::uint32_t filler_share = 1U << 30U;
static_assert(filler_share > chunk_bytes);

constexpr std::size_t free_chunks_max = 128;

constexpr std::uint32_t line_bytes = 64;
constexpr std::uint32_t owned_ahead_max = 4 * line_bytes;

class pool {
 public:
  chunk* take() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (free_ != nullptr) {
        chunk* found = free_;
        free_ = found->next_free;
        --free_count_;
        return found;
      }
      ++live_;
    }
    void* memory = std::aligned_alloc(chunk_bytes, chunk_bytes);
    if (memory == nullptr) {
      const std::lock_guard lock(mutex_);
      --live_;
      return nullptr;
    }
    PARTITA_POISON(static_cast<char*>(memory) + header_bytes, chunk_bytes - header_bytes);
    return new (memory) chunk;
  }

  void give_back(chunk* used) noexcept {
    PARTITA_POISON(reinterpret_cast<char*>(used) + header_bytes, chunk_bytes - header_bytes);
    {
      const std::lock_guard lock(mutex_);
      if (free_count_ < free_chunks_max) {
        used->next_free = free_;
        free_ = used;
        ++free_count_;
        return;
      }
      --live_;
    }
    PARTITA_UNPOISON(reinterpret_cast<char*>(used) + header_bytes, chunk_bytes - header_bytes);
    used->~chunk();
    std::free(used);
  }

  chunk_statistics statistics() noexcept {
    const std::lock_guard lock(mutex_);
    return {live_, free_count_};
  }

  // Never destroyed: threads may release nodes while the program's statics are torn down.
  static pool& instance() noexcept {
    static pool& only = *new pool;
    return only;
  }

 private:
  std::mutex mutex_;
  chunk* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::size_t live_ = 0;
};

// Plain thread-local values (no guard on the fast path); the object with the destructor is touched
// only when a chunk is taken.
thread_local constinit chunk* current = nullptr;
thread_local constinit bool thread_ends = false;

struct end_of_thread {
  void arm() const noexcept {}
  ~end_of_thread() {
    thread_ends = true;
    leave_current_chunk();
  }
};
thread_local const end_of_thread at_end;

void begin(chunk& fresh) noexcept {
  fresh.used = header_bytes;
  fresh.allocated = 0;
  fresh.references.store(filler_share, std::memory_order_relaxed);
}

bool open_chunk() noexcept {
  // Often everything in the chunk has been sent by the time it is full: then it is used again on
  // the spot, warm and without the lock.
  if (current != nullptr &&
      current->references.load(std::memory_order_acquire) == filler_share - current->allocated) {
    begin(*current);
    return true;
  }
  leave_current_chunk();
  chunk* fresh = pool::instance().take();
  if (fresh == nullptr) return false;
  if (!thread_ends) at_end.arm();
  begin(*fresh);
  current = fresh;
  return true;
}

// The lane's core read this memory last. To take it over takes as long as to fill it, so that
// begins one node before it is needed. Behind the end of the chunk it has no effect.
void own_soon(const char* memory, std::uint32_t bytes) noexcept {
  const char* const end = memory + std::min(bytes, owned_ahead_max);
  for (; memory < end; memory += line_bytes)
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*memory));  // the builtin asks for a copy to read only
#else
    __builtin_prefetch(memory, 1);
#endif
}

}  // namespace

void* allocate_in_chunk(std::size_t bytes) noexcept {
  PARTITA_EXPECTS(bytes > 0);
  PARTITA_EXPECTS(bytes <= chunk_request_max, bytes);
  const auto rounded = static_cast<std::uint32_t>((bytes + 7) & ~std::size_t{7});
  if ((current == nullptr || current->used + rounded > chunk_bytes) && !open_chunk())
    return nullptr;
  char* memory = reinterpret_cast<char*>(current) + current->used;
  current->used += rounded;
  ++current->allocated;
  PARTITA_UNPOISON(memory, rounded);
  own_soon(memory + rounded, rounded);
  if (thread_ends) leave_current_chunk();  // nobody would do it later
  return memory;
}

chunk* chunk_of(const void* memory) noexcept {
  return reinterpret_cast<chunk*>(reinterpret_cast<std::uintptr_t>(memory) &
                                  ~(std::uintptr_t{chunk_bytes} - 1));
}

void release_in_chunk(chunk* owner, std::uint32_t count) noexcept {
  const std::uint32_t before = owner->references.fetch_sub(count, std::memory_order_acq_rel);
  PARTITA_ASSERT(before >= count, before, count);
  if (before == count) pool::instance().give_back(owner);
}

void leave_current_chunk() noexcept {
  if (current == nullptr) return;
  chunk* const left = current;
  current = nullptr;
  release_in_chunk(left, filler_share - left->allocated);
}

chunk_statistics chunk_statistics_now() noexcept { return pool::instance().statistics(); }

}  // namespace partita::actors
