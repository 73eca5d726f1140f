#include "wire/snappy.hpp"

#include "wire/codec_memory.hpp"

#include <partita/error.hpp>

#include <snappy.h>

#include <algorithm>
#include <array>

namespace partita::wire {

namespace {

// The framing of xerial's library, which Java's clients write: a magic, two version numbers, then
// blocks behind their big-endian lengths.
constexpr std::array<unsigned char, 16> framing_header = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                                          0,    0,   0,   1,   0,   0,   0,   1};
constexpr std::size_t magic_size = 8;
constexpr std::size_t block_input_bytes = 32 * 1024;
// The densest element copies 64 bytes with 3, so no block can grow more than this.
constexpr std::size_t expansion_max = 22;

std::array<std::byte, 4> big_endian(std::size_t value) noexcept {
  return {static_cast<std::byte>(value >> 24 & 0xff), static_cast<std::byte>(value >> 16 & 0xff),
          static_cast<std::byte>(value >> 8 & 0xff), static_cast<std::byte>(value & 0xff)};
}

bool is_framed(std::span<const std::byte> input) noexcept {
  return input.size() >= framing_header.size() &&
         std::memcmp(input.data(), framing_header.data(), magic_size) == 0;
}

std::error_code append_block(std::span<const std::byte> block, std::size_t limit,
                             std::vector<std::byte>& bytes) {
  const auto* const data = reinterpret_cast<const char*>(block.data());
  std::size_t length = 0;
  if (!snappy::GetUncompressedLength(data, block.size(), &length)) return client_errc::corrupt_data;
  if (length / expansion_max > block.size()) return client_errc::corrupt_data;
  if (length > limit - bytes.size()) return client_errc::answer_too_large;
  const std::size_t before = bytes.size();
  // Doubles while there are many blocks, but never beyond the limit.
  const std::size_t doubled = bytes.capacity() > limit / 2 ? limit : 2 * bytes.capacity();
  if (before + length > bytes.capacity()) bytes.reserve(std::max(before + length, doubled));
  bytes.resize(before + length);
  if (!snappy::RawUncompress(data, block.size(), reinterpret_cast<char*>(bytes.data() + before)))
    return client_errc::corrupt_data;
  return {};
}

}  // namespace

std::error_code snappy_compress(int /*level*/, const segment_chain& input, std::size_t from,
                                segment_chain& output) {
  static thread_local codec_memory source;
  static thread_local codec_memory target;
  output.append(framing_header.data(), framing_header.size());
  std::span<const std::byte> rest = source.in_one_piece(input, from);
  while (!rest.empty()) {
    const std::span<const std::byte> block = rest.first(std::min(rest.size(), block_input_bytes));
    const std::span<std::byte> room = target.room(snappy::MaxCompressedLength(block.size()));
    std::size_t length = room.size();
    snappy::RawCompress(reinterpret_cast<const char*>(block.data()), block.size(),
                        reinterpret_cast<char*>(room.data()), &length);
    output.append(big_endian(length));
    output.append(room.first(length));
    rest = rest.subspan(block.size());
  }
  source.release_excess();
  return {};
}

decompressed snappy_decompress(std::span<const std::byte> input, std::size_t limit) {
  decompressed result;
  if (!is_framed(input)) {
    result.error = append_block(input, limit, result.bytes);
    return result;
  }
  input = input.subspan(framing_header.size());
  while (!input.empty() && !result.error) {
    std::size_t length = 0;
    if (input.size() < 4) return {{}, client_errc::corrupt_data};
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<std::size_t>(input[i]);
    input = input.subspan(4);
    if (length > input.size()) return {{}, client_errc::corrupt_data};
    result.error = append_block(input.first(length), limit, result.bytes);
    input = input.subspan(length);
  }
  return result;
}

}  // namespace partita::wire
