// Memory that codecs work in: the input in one piece, and room for the output.
//
// Invariants
// 1. Memory is kept between calls up to kept_bytes_max for each buffer, and given back beyond it.
//
// Threads: one object belongs to one thread; the codecs hold theirs thread_local.
#pragma once

#include "wire/segments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace partita::wire {

class codec_memory {
 public:
  static constexpr std::size_t kept_bytes_max = std::size_t{4} << 20;

  /// Uninitialised room for at least `count` bytes, valid until the next call.
  [[nodiscard]] std::span<std::byte> room(std::size_t count) {
    if (count > size_) {
      bytes_.reset();
      size_ = 0;
      bytes_.reset(new std::byte[count]);
      size_ = count;
    }
    return {bytes_.get(), size_};
  }

  /// The chain's bytes from `from` on in one piece; copied only where they lie in several blocks.
  [[nodiscard]] std::span<const std::byte> in_one_piece(const segment_chain& input,
                                                        std::size_t from) {
    const std::size_t total = input.size() - from;
    std::span<const std::byte> single;
    std::size_t filled = 0;
    std::byte* copy = nullptr;
    input.for_each(
        [&](std::span<const std::byte> piece) {
          if (piece.size() == total) {
            single = piece;
            return;
          }
          if (copy == nullptr) copy = room(total).data();
          std::memcpy(copy + filled, piece.data(), piece.size());
          filled += piece.size();
        },
        from);
    return copy == nullptr ? single : std::span<const std::byte>(copy, total);
  }

  /// To be called when a codec is done.
  void release_excess() noexcept {
    if (size_ <= kept_bytes_max) return;
    bytes_.reset();
    size_ = 0;
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

/// A decompressor's output: grows with what is really made, up to the limit.
class bounded_output {
 public:
  bounded_output(std::vector<std::byte>& bytes, std::size_t limit) noexcept
      : bytes_(bytes), limit_(limit) {}

  /// Room for more, empty when the limit is reached. `expected` is a hint only.
  [[nodiscard]] std::span<std::byte> more(std::size_t expected) {
    const std::size_t step = std::max<std::size_t>({expected, made_, 4096});
    const std::size_t size = step > limit_ - made_ ? limit_ : made_ + step;
    if (bytes_.size() < size) {
      bytes_.reserve(size);  // exactly: resize alone may double beyond the limit
      bytes_.resize(size);
    }
    return std::span<std::byte>(bytes_).subspan(made_, bytes_.size() - made_);
  }
  void made(std::size_t count) noexcept { made_ += count; }
  [[nodiscard]] bool full() const noexcept { return made_ == limit_; }
  void finish() { bytes_.resize(made_); }

 private:
  std::vector<std::byte>& bytes_;
  std::size_t limit_;
  std::size_t made_ = 0;
};

}  // namespace partita::wire
