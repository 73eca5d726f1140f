// The codecs of record batches: which there are, their levels, and one call each way.
//
// Invariants
// 1. decompress() never makes more than `limit` bytes, and never trusts a length that the data
//    states.
// 2. A codec's failure is a value; the output is then to be thrown away.
//
// Threads: callable from any thread. Codec contexts and scratch memory belong to the calling thread
// and are kept between calls, because creating one costs more than compressing a small batch.
#pragma once

#include "wire/segments.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>

namespace partita::wire {

/// Numbered as in the attributes of a batch.
enum class codec : std::uint8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };

struct level_range {
  int first = 0;
  int last = 0;
  int preset = 0;  ///< used when the configuration names none

  [[nodiscard]] constexpr bool contains(int level) const noexcept {
    return first <= level && level <= last;
  }
};

/// The levels a codec takes; codecs without levels accept 0 only.
constexpr level_range levels_of(codec which) noexcept {
  switch (which) {
    case codec::gzip:
      return {1, 9, 6};
    // 0 to 2 are the fast compressor, 3 to 12 high compression; 13 to 17 exist because Java's key
    // (KIP-390) allows them, and mean 12.
    case codec::lz4:
      return {0, 17, 0};
    case codec::zstd:
      return {-131072, 22, 3};
    case codec::none:
    case codec::snappy:
      break;
  }
  return {0, 0, 0};
}

/// Appends the compressed form of input's bytes from `from` on to `output`.
[[nodiscard]] std::error_code compress(codec which, int level, const segment_chain& input,
                                       std::size_t from, segment_chain& output);

struct decompressed {
  std::vector<std::byte> bytes;
  /// corrupt_data, answer_too_large (more than the limit) or unsupported_codec.
  std::error_code error;
};

[[nodiscard]] decompressed decompress(codec which, std::span<const std::byte> input,
                                      std::size_t limit);

}  // namespace partita::wire
