#include "wire/gzip.hpp"

#include "wire/codec_memory.hpp"

#include <partita/error.hpp>

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace partita::wire {

namespace {

constexpr int gzip_window_bits = 15 + 16;  // 15 bits of window, plus 16: gzip, not zlib
constexpr int memory_level = 8;
constexpr std::size_t piece_max = std::size_t{1} << 30;

Bytef* as_input(const std::byte* bytes) noexcept {
  // zlib's interface lacks const (unless ZLIB_CONST is set for the whole program); it only reads.
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes));
}

/// A deflate state, reset between batches: making one zeroes a quarter of a megabyte.
class deflater {
 public:
  deflater() = default;
  deflater(const deflater&) = delete;
  deflater& operator=(const deflater&) = delete;
  ~deflater() { end(); }

  [[nodiscard]] z_stream* begin(int level) {
    if (ready_ && level_ == level && deflateReset(&stream_) == Z_OK) return &stream_;
    end();
    stream_ = {};
    ready_ = deflateInit2(&stream_, level, Z_DEFLATED, gzip_window_bits, memory_level,
                          Z_DEFAULT_STRATEGY) == Z_OK;
    level_ = level;
    return ready_ ? &stream_ : nullptr;
  }

 private:
  void end() noexcept {
    if (ready_) deflateEnd(&stream_);
    ready_ = false;
  }

  z_stream stream_{};
  int level_ = 0;
  bool ready_ = false;
};

/// Runs deflate until it has taken all input (and, with Z_FINISH, has given all output).
bool drive(z_stream& stream, int flush, segment_chain& output) {
  for (;;) {
    std::byte* const out = output.prepare(1);
    const std::size_t room = output.room();
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = static_cast<uInt>(room);
    const int result = deflate(&stream, flush);
    output.commit(out + (room - stream.avail_out));
    if (result == Z_STREAM_END) return true;
    if (result != Z_OK && result != Z_BUF_ERROR) return false;
    if (flush != Z_FINISH && stream.avail_in == 0 && stream.avail_out != 0) return true;
  }
}

}  // namespace

std::error_code gzip_compress(int level, const segment_chain& input, std::size_t from,
                              segment_chain& output) {
  static thread_local deflater state;
  z_stream* const stream = state.begin(level);
  if (stream == nullptr) return std::make_error_code(std::errc::not_enough_memory);
  bool ok = true;
  input.for_each(
      [&](std::span<const std::byte> piece) {
        stream->next_in = as_input(piece.data());
        stream->avail_in = static_cast<uInt>(piece.size());  // a block of a chain, so small
        ok = ok && drive(*stream, Z_NO_FLUSH, output);
      },
      from);
  stream->next_in = nullptr;
  stream->avail_in = 0;
  ok = ok && drive(*stream, Z_FINISH, output);
  return ok ? std::error_code{} : make_error_code(client_errc::corrupt_data);
}

namespace {

/// Inflates one or more members (RFC 1952 allows several) until all input is used.
std::error_code inflate_members(z_stream& stream, std::span<const std::byte> input,
                                bounded_output& output) {
  stream.next_in = as_input(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::byte beyond_limit{};
  for (;;) {
    // At the limit one more byte of room tells "exactly full" from "too much".
    const bool probing = output.full();
    const auto room =
        probing ? std::span<std::byte>(&beyond_limit, 1) : output.more(4 * input.size());
    const std::size_t piece = std::min(room.size(), piece_max);
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(piece);
    const int result = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = piece - stream.avail_out;
    if (probing && made != 0) return client_errc::answer_too_large;
    if (!probing) output.made(made);
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) return {};
      if (inflateReset(&stream) != Z_OK) return client_errc::corrupt_data;
    } else if (result != Z_OK || (made == 0 && stream.avail_in == 0)) {
      return client_errc::corrupt_data;
    }
  }
}

}  // namespace

decompressed gzip_decompress(std::span<const std::byte> input, std::size_t limit) {
  decompressed result;
  if (input.empty() || input.size() > piece_max) return {{}, client_errc::corrupt_data};
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window_bits) != Z_OK)
    return {{}, std::make_error_code(std::errc::not_enough_memory)};
  bounded_output output(result.bytes, limit);
  result.error = inflate_members(stream, input, output);
  inflateEnd(&stream);
  output.finish();
  return result;
}

}  // namespace partita::wire
