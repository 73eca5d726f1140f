// CRC-32C (Castagnoli), the checksum of record batches, in pieces.
//
// Invariants
// 1. The value does not depend on how the bytes are cut: crc32c(a + b) == crc32c(b, crc32c(a)).
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace partita::wire {

/// The checksum of `bytes`, or of what `before` covered followed by `bytes`.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes,
                                   std::uint32_t before = 0) noexcept;

}  // namespace partita::wire
