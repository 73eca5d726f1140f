#include "actors/record_node.hpp"

#include "wire/record_batch.hpp"

#include <partita/contract.hpp>

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

// Told by the size alone: command::flags of a record carries the code of a refusal.
constexpr bool lies_in_chunk(std::uint32_t tail_size) noexcept {
  return bytes_of(tail_size) <= chunk_request_max;
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
  const std::size_t bytes = bytes_of(tail_size);
  void* memory = lies_in_chunk(tail_size) ? allocate_in_chunk(bytes) : std::malloc(bytes);
  if (memory == nullptr) return nullptr;
  auto* node = new (memory) record_node;
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
  if (!lies_in_chunk(node.tail_size)) {
    std::free(&node);
    return;
  }
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

void record_releaser::flush() noexcept {
  if (count_ == 0) return;
  release_in_chunk(chunk_, count_);
  chunk_ = nullptr;
  count_ = 0;
}

}  // namespace partita::actors
