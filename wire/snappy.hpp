// snappy: written in Java's framing (xerial), read in it and as one raw block.
//
// Threads: callable from any thread; contexts are kept per thread.
#pragma once

#include "wire/compression.hpp"

#include <cstddef>
#include <span>
#include <system_error>

namespace partita::wire {

[[nodiscard]] std::error_code snappy_compress(int level, const segment_chain& input,
                                              std::size_t from, segment_chain& output);
[[nodiscard]] decompressed snappy_decompress(std::span<const std::byte> input, std::size_t limit);

}  // namespace partita::wire
