#include "wire/zstd.hpp"

#include "wire/codec_memory.hpp"

#include <partita/error.hpp>

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace partita::wire {

namespace {

struct compressor_end {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
struct decompressor_end {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

std::error_code out_of_memory() { return std::make_error_code(std::errc::not_enough_memory); }

// A frame states its window, and a streaming decoder allocates it: a hostile frame of 20 bytes
// would cost gigabytes. No honest batch needs more than its own size, except that encoders that do
// not know it use their level's window (8 MiB up to level 19).
int window_log_max(std::size_t limit) noexcept {
  constexpr int least = 23;
  constexpr int most = 27;
  return std::clamp(static_cast<int>(std::bit_width(limit)), least, most);
}

std::error_code read_frames(ZSTD_DCtx* context, std::span<const std::byte> input,
                            bounded_output& output) {
  ZSTD_inBuffer source{input.data(), input.size(), 0};
  std::byte beyond_limit{};
  for (;;) {
    const bool probing = output.full();
    const auto room =
        probing ? std::span<std::byte>(&beyond_limit, 1) : output.more(4 * input.size());
    ZSTD_outBuffer target{room.data(), room.size(), 0};
    const std::size_t used_before = source.pos;
    const std::size_t wanted = ZSTD_decompressStream(context, &target, &source);
    if (ZSTD_isError(wanted) != 0) return client_errc::corrupt_data;
    if (probing && target.pos != 0) return client_errc::answer_too_large;
    if (!probing) output.made(target.pos);
    if (wanted == 0 && source.pos == source.size) return {};
    if (target.pos == 0 && source.pos == used_before)
      return client_errc::corrupt_data;  // cut short
  }
}

}  // namespace

std::error_code zstd_compress(int level, const segment_chain& input, std::size_t from,
                              segment_chain& output) {
  static thread_local std::unique_ptr<ZSTD_CCtx, compressor_end> context(ZSTD_createCCtx());
  static thread_local codec_memory source;
  static thread_local codec_memory target;
  if (!context) return out_of_memory();
  const std::span<const std::byte> content = source.in_one_piece(input, from);
  const std::span<std::byte> room = target.room(ZSTD_compressBound(content.size()));
  const std::size_t length = ZSTD_compressCCtx(context.get(), room.data(), room.size(),
                                               content.data(), content.size(), level);
  if (ZSTD_isError(length) != 0) return client_errc::corrupt_data;
  output.append(room.first(length));
  source.release_excess();
  target.release_excess();
  return {};
}

decompressed zstd_decompress(std::span<const std::byte> input, std::size_t limit) {
  static thread_local std::unique_ptr<ZSTD_DCtx, decompressor_end> context(ZSTD_createDCtx());
  decompressed result;
  if (input.empty()) return {{}, client_errc::corrupt_data};
  if (!context) return {{}, out_of_memory()};
  ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, window_log_max(limit));
  bounded_output output(result.bytes, limit);
  result.error = read_frames(context.get(), input, output);
  output.finish();
  return result;
}

}  // namespace partita::wire
