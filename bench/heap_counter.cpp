// A library to preload: counts what is allocated on the heap, by operator new or by malloc, in the
// whole process. In a library of its own so that the measured programs are the ones without it.
//
// Threads: any; the counter is one word for all, which suffices to count.
#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {

// The C library's own, under the names that it keeps for those who replace malloc.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

static std::atomic<std::uint64_t> allocations{0};

std::uint64_t partita_bench_allocations() { return allocations.load(std::memory_order_relaxed); }

void* malloc(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 : 0;
}

}  // extern "C"
