#include "wire/compression.hpp"

#include "wire/gzip.hpp"
#include "wire/lz4.hpp"
#include "wire/snappy.hpp"
#include "wire/zstd.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

namespace partita::wire {

std::error_code compress(codec which, int level, const segment_chain& input, std::size_t from,
                         segment_chain& output) {
  PARTITA_EXPECTS(from <= input.size(), from, input.size());
  PARTITA_EXPECTS(levels_of(which).contains(level), static_cast<int>(which), level);
  switch (which) {
    case codec::gzip:
      return gzip_compress(level, input, from, output);
    case codec::snappy:
      return snappy_compress(level, input, from, output);
    case codec::lz4:
      return lz4_compress(level, input, from, output);
    case codec::zstd:
      return zstd_compress(level, input, from, output);
    case codec::none:
      break;
  }
  input.for_each([&](std::span<const std::byte> piece) { output.append(piece); }, from);
  return {};
}

decompressed decompress(codec which, std::span<const std::byte> input, std::size_t limit) {
  switch (which) {
    case codec::gzip:
      return gzip_decompress(input, limit);
    case codec::snappy:
      return snappy_decompress(input, limit);
    case codec::lz4:
      return lz4_decompress(input, limit);
    case codec::zstd:
      return zstd_decompress(input, limit);
    case codec::none:
      break;
    default:
      return {{}, client_errc::unsupported_codec};  // 5 to 7 fit into the attribute's bits
  }
  if (input.size() > limit) return {{}, client_errc::answer_too_large};
  return {{input.begin(), input.end()}, {}};
}

}  // namespace partita::wire
