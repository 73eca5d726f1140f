// Memory of record nodes: bump allocation in 64 KiB chunks, given back by counts.
//
// malloc per record costs three times as much as all the rest of handing it over. A chunk is filled
// by one thread and emptied by another.
//
// Invariants
// 1. A chunk goes back to the pool when its thread has left it and every node in it was released.
// 2. Allocation does no atomic operation: the filling thread holds a large share of the count, and
//    settles it when it leaves the chunk (a biased count).
// 3. The pool keeps a bounded number of chunks, last in first out (they are warm in the cache).
//
// Threads: allocate on any thread (thread-local chunk); release on any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita::actors {

class chunk;

inline constexpr std::size_t chunk_bytes = 64U << 10U;
/// Larger requests get memory of their own.
inline constexpr std::size_t chunk_request_max = chunk_bytes / 4;

/// `bytes` <= chunk_request_max, 8-byte aligned memory in this thread's chunk. Null: out of memory.
[[nodiscard]] void* allocate_in_chunk(std::size_t bytes) noexcept;

/// The chunk that memory from allocate_in_chunk() lies in.
[[nodiscard]] chunk* chunk_of(const void* memory) noexcept;

/// Gives `count` allocations of one chunk back.
void release_in_chunk(chunk* owner, std::uint32_t count) noexcept;

struct chunk_statistics {
  std::size_t live = 0;  ///< chunks that exist
  std::size_t free = 0;  ///< of these, kept for reuse
};
[[nodiscard]] chunk_statistics chunk_statistics_now() noexcept;

/// Leaves the calling thread's chunk; done by itself when a thread ends.
void leave_current_chunk() noexcept;

}  // namespace partita::actors
