// What the null broker counts, and what it is told while it runs, in a file that it and the
// measuring programs map. (The programs in bench/peers read its first three numbers by position.)
//
// Invariants
// 1. Counters only rise; the broker writes them, everybody else reads.
// 2. silent_broker and held are written by the measuring program alone.
//
// Threads: any.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace partita::bench {

struct broker_statistics {
  std::atomic<std::uint64_t> produce_requests{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> records{0};
  std::atomic<std::uint64_t> bytes{0};            ///< of produce requests
  std::atomic<std::uint64_t> out_of_sequence{0};  ///< batches refused for their sequence
  std::atomic<std::uint64_t> broken{0};           ///< frames and batches that do not parse
  /// This one of the brokers reads what comes and neither answers nor appends it; -1: none.
  std::atomic<std::int64_t> silent_broker{-1};
  /// Not 0: the brokers rest, and take what has come meanwhile once it is 0 again.
  std::atomic<std::uint64_t> held{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Null when the file can not be mapped. The broker makes it, the others find it zeroed or filled.
inline broker_statistics* map_statistics(const char* file, bool make) noexcept {
  const int handle = ::open(file, make ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR, 0600);
  if (handle < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (!make || ::ftruncate(handle, sizeof(broker_statistics)) == 0)
    memory =
        ::mmap(nullptr, sizeof(broker_statistics), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  ::close(handle);
  if (memory == MAP_FAILED) return nullptr;
  return make ? new (memory) broker_statistics : static_cast<broker_statistics*>(memory);
}

}  // namespace partita::bench
