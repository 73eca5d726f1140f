#include "api/partitioner_hash.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

namespace partita {
namespace {

std::uint32_t byte_at(std::string_view bytes, std::size_t at) noexcept {
  return static_cast<unsigned char>(bytes[at]);
}

std::uint32_t little_endian_word(const char* at) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
  return word;
}

}  // namespace

std::uint32_t murmur2(std::string_view bytes) noexcept {
  constexpr std::uint32_t multiplier = 0x5bd1e995;
  constexpr std::uint32_t seed = 0x9747b28c;
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(bytes.size());

  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = little_endian_word(bytes.data() + at);
    word *= multiplier;
    word ^= word >> 24;
    word *= multiplier;
    hash = hash * multiplier ^ word;
  }

  if (const std::size_t left = bytes.size() - at; left > 0) {
    if (left > 2) hash ^= byte_at(bytes, at + 2) << 16;
    if (left > 1) hash ^= byte_at(bytes, at + 1) << 8;
    hash = (hash ^ byte_at(bytes, at)) * multiplier;
  }

  hash ^= hash >> 13;
  hash *= multiplier;
  return hash ^ hash >> 15;
}

std::uint32_t fnv1a(std::string_view bytes) noexcept {
  std::uint32_t hash = 0x811c9dc5;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  return hash;
}

}  // namespace partita
