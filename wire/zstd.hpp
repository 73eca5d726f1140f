// Zstandard frames.
//
// Threads: callable from any thread; contexts are kept per thread.
#pragma once

#include "wire/compression.hpp"

#include <cstddef>
#include <span>
#include <system_error>

namespace partita::wire {

[[nodiscard]] std::error_code zstd_compress(int level, const segment_chain& input, std::size_t from,
                                            segment_chain& output);
[[nodiscard]] decompressed zstd_decompress(std::span<const std::byte> input, std::size_t limit);

}  // namespace partita::wire
