#include "wire/lz4.hpp"

#include "wire/codec_memory.hpp"

#include <partita/error.hpp>

#include <lz4frame.h>

#include <algorithm>

namespace partita::wire {

namespace {

constexpr int level_max = 12;  // the library's; higher numbers are Java's and mean the same

LZ4F_preferences_t preferences(int level, std::size_t content_bytes) noexcept {
  LZ4F_preferences_t wanted{};
  wanted.frameInfo.blockSizeID = LZ4F_max64KB;
  wanted.frameInfo.blockMode = LZ4F_blockIndependent;  // Java's reader refuses dependent blocks
  wanted.frameInfo.contentChecksumFlag = LZ4F_noContentChecksum;
  wanted.frameInfo.blockChecksumFlag = LZ4F_noBlockChecksum;
  wanted.frameInfo.contentSize = content_bytes;
  wanted.compressionLevel = std::min(level, level_max);
  return wanted;
}

class decompression_context {
 public:
  decompression_context() { LZ4F_createDecompressionContext(&context_, LZ4F_VERSION); }
  decompression_context(const decompression_context&) = delete;
  decompression_context& operator=(const decompression_context&) = delete;
  ~decompression_context() { LZ4F_freeDecompressionContext(context_); }

  [[nodiscard]] LZ4F_dctx* get() const noexcept { return context_; }

 private:
  LZ4F_dctx* context_ = nullptr;
};

std::error_code read_frame(LZ4F_dctx* context, std::span<const std::byte> input,
                           bounded_output& output) {
  std::byte beyond_limit{};
  for (;;) {
    const bool probing = output.full();
    const auto room =
        probing ? std::span<std::byte>(&beyond_limit, 1) : output.more(4 * input.size());
    std::size_t made = room.size();
    std::size_t used = input.size();
    const std::size_t wanted =
        LZ4F_decompress(context, room.data(), &made, input.data(), &used, nullptr);
    if (LZ4F_isError(wanted) != 0) return client_errc::corrupt_data;
    if (probing && made != 0) return client_errc::answer_too_large;
    if (!probing) output.made(made);
    input = input.subspan(used);
    if (wanted == 0) return input.empty() ? std::error_code{} : client_errc::corrupt_data;
    if (made == 0 && used == 0) return client_errc::corrupt_data;  // cut short
  }
}

}  // namespace

std::error_code lz4_compress(int level, const segment_chain& input, std::size_t from,
                             segment_chain& output) {
  static thread_local codec_memory source;
  static thread_local codec_memory target;
  const std::span<const std::byte> content = source.in_one_piece(input, from);
  const LZ4F_preferences_t wanted = preferences(level, content.size());
  const std::span<std::byte> room = target.room(LZ4F_compressFrameBound(content.size(), &wanted));
  const std::size_t length =
      LZ4F_compressFrame(room.data(), room.size(), content.data(), content.size(), &wanted);
  if (LZ4F_isError(length) != 0) return client_errc::corrupt_data;
  output.append(room.first(length));
  source.release_excess();
  target.release_excess();
  return {};
}

decompressed lz4_decompress(std::span<const std::byte> input, std::size_t limit) {
  decompressed result;
  const decompression_context context;
  if (context.get() == nullptr) return {{}, std::make_error_code(std::errc::not_enough_memory)};
  bounded_output output(result.bytes, limit);
  result.error = read_frame(context.get(), input, output);
  output.finish();
  return result;
}

}  // namespace partita::wire
