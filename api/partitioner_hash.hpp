// The hashes that Kafka clients use for keys. Their results are facts of other programs: changing a
// bit moves keys of running systems to other partitions.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace partita {

/// Java's variant: seed 0x9747b28c, little-endian words, unsigned tail bytes.
[[nodiscard]] std::uint32_t murmur2(std::string_view bytes) noexcept;

/// FNV-1a, 32 bits.
[[nodiscard]] std::uint32_t fnv1a(std::string_view bytes) noexcept;

/// Java masks the sign away; an absolute value would map INT_MIN nowhere (librdkafka #1816).
[[nodiscard]] constexpr std::uint32_t masked(std::uint32_t hash) noexcept {
  return hash & 0x7fffffffU;
}

/// Sarama takes the hash as signed and negates what is negative.
[[nodiscard]] constexpr std::uint32_t negated_if_negative(std::uint32_t hash) noexcept {
  return (hash & 0x80000000U) != 0 ? 0U - hash : hash;
}

}  // namespace partita
