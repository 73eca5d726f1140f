#include "actors/record_node.hpp"

#include "wire/record_batch.hpp"
#include "wire/segments.hpp"

#include <partita/contract.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace partita::actors {

namespace {

constexpr std::size_t bytes_of(std::uint32_t tail_size) noexcept {
  return sizeof(record_node) + tail_size;
}

/// In front of a node that lies alone. Told by the size alone: command::flags of a record carries
/// the code of a refusal.
struct alone : wire::lent_segment {
  alone() noexcept;
  std::atomic<int> holders{1};  // the node, and the batch that has its tail
};
static_assert(sizeof(alone) % alignof(record_node) == 0);

alone& alone_of(const record_node& node) noexcept {
  PARTITA_ASSERT(lies_alone(node.tail_size), node.tail_size);
  return *(reinterpret_cast<alone*>(const_cast<record_node*>(&node)) - 1);
}

void let_go(alone& memory) noexcept {
  if (memory.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  memory.~alone();
  std::free(&memory);
}

alone::alone() noexcept
    : lent_segment({}, [](lent_segment& tail) noexcept { let_go(static_cast<alone&>(tail)); }) {}

record_node* allocate_alone(std::uint32_t tail_size) noexcept {
  void* const memory = std::malloc(sizeof(alone) + bytes_of(tail_size));
  if (memory == nullptr) return nullptr;
  auto* const front = new (memory) alone;
  return new (front + 1) record_node;
}

}  // namespace

// Nobody else sees it, so that whatever is fast and tells keys apart will do: words of eight bytes,
// the last one overlapping, each mixed in by one multiplication.
std::uint32_t key_hash_of(const std::optional<std::string_view>& key) noexcept {
  if (!key) return 0;
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = key->size();
  const auto mix_in = [&mixed](const char* at, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    mixed = (mixed ^ word) * odd;
    mixed ^= mixed >> 32U;
  };
  const char* at = key->data();
  const char* const end = at + key->size();
  if (key->size() < word_bytes) {
    if (!key->empty()) mix_in(at, key->size());
  } else {
    for (; end - at > static_cast<std::ptrdiff_t>(word_bytes); at += word_bytes)
      mix_in(at, word_bytes);
    mix_in(end - word_bytes, word_bytes);
  }
  const auto hash = static_cast<std::uint32_t>(mixed);
  return hash == 0 ? 1 : hash;
}

record_node* allocate_record_node(std::uint32_t tail_size) noexcept {
  record_node* node = nullptr;
  if (lies_alone(tail_size)) {
    node = allocate_alone(tail_size);
  } else if (void* const memory = allocate_in_chunk(bytes_of(tail_size))) {
    node = new (memory) record_node;
  }
  if (node == nullptr) return nullptr;
  node->kind = command_kind::record;
  node->tail_size = tail_size;
  node->weight = static_cast<std::uint32_t>(record_cost(tail_size));
  return node;
}

record_node* make_record_node(const record& what, std::uint32_t tail_size) noexcept {
  record_node* node = allocate_record_node(tail_size);
  if (node == nullptr) return nullptr;
  std::byte* const begin = node->writable_tail().data();
  const std::byte* const end = wire::encode_record_tail(what, begin);
  PARTITA_ASSERT(end == begin + tail_size, end - begin, tail_size);
  node->key_hash = key_hash_of(what.key);
  return node;
}

void release_record_node(record_node& node) noexcept {
  record_releaser one;
  one.release(node);
}

void record_releaser::release(record_node& node) noexcept {
  PARTITA_EXPECTS(node.kind == command_kind::record);
  if (lies_alone(node.tail_size)) return let_go(alone_of(node));
  chunk* const owner = chunk_of(&node);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(&node, bytes_of(node.tail_size));
#endif
  if (owner != chunk_) {
    flush();
    chunk_ = owner;
  }
  ++count_;
}

wire::lent_segment& lend_tail(const record_node& node) noexcept {
  alone& memory = alone_of(node);
  const int before = memory.holders.fetch_add(1, std::memory_order_relaxed);
  PARTITA_EXPECTS(before == 1, before);
  memory.bytes = node.tail();
  return memory;
}

void record_releaser::flush() noexcept {
  if (count_ == 0) return;
  release_in_chunk(chunk_, count_);
  chunk_ = nullptr;
  count_ = 0;
}

}  // namespace partita::actors
