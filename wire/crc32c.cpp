#include "wire/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace partita::wire {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  // The library computes the bare remainder: the inversions of the standard are ours. Its length is
  // an int, hence the pieces; it does not write through its pointer.
  constexpr std::size_t piece_max = std::size_t{1} << 30;
  std::uint32_t remainder = ~before;
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), piece_max);
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    remainder = crc32_iscsi(data, static_cast<int>(piece), remainder);
    bytes = bytes.subspan(piece);
  }
  return ~remainder;
}

}  // namespace partita::wire
