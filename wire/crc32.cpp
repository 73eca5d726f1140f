#include "wire/crc32.hpp"

#include <zlib.h>

namespace partita::wire {

std::uint32_t crc32(std::string_view bytes) noexcept {
  // A null pointer asks zlib for the initial value, which is the checksum of nothing as well.
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32_z(0, data, bytes.size()));
}

}  // namespace partita::wire
