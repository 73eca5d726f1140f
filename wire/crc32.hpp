// CRC-32 as zlib, Ethernet and librdkafka's partitioners compute it (IEEE polynomial, reflected).
// Record batches use another one: crc32c.hpp.
//
// Threads: pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace partita::wire {

[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;

}  // namespace partita::wire
