// A frame for vectored writing: small bytes of its own, and borrowed bytes spliced in between.
//
// Invariants
// 1. What is borrowed is not copied: it must stay alive and unchanged until the write ended (L7).
// 2. Own bytes are addressed by position among own bytes, so patching never touches borrowed
//    ones.
//
// Threads: one owner at a time.
#pragma once

#include <partita/contract.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace partita::wire {

class gather_buffer {
 public:
  /// Borrowed bytes that go before the own byte at `position`.
  struct splice {
    std::size_t position;
    std::span<const std::byte> bytes;
  };

  [[nodiscard]] std::size_t size() const noexcept { return own_.size() + borrowed_bytes_; }

  /// Not inline: a frame is put together from dozens of small pieces, and what is spread over many
  /// lines of the instruction cache costs a round trip more than the calls.
  [[gnu::noinline]] void append(const void* bytes, std::size_t count) {
    const auto* first = static_cast<const std::byte*>(bytes);
    own_.insert(own_.end(), first, first + count);
  }
  void append(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }
  void append(std::byte byte) { own_.push_back(byte); }
  void borrow(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    splices_.push_back({own_.size(), bytes});
    borrowed_bytes_ += bytes.size();
  }
  void reserve(std::size_t own_bytes) { own_.reserve(own_bytes); }

  /// Overwrites own bytes.
  void patch(std::size_t own_position, std::span<const std::byte> bytes) {
    PARTITA_EXPECTS(own_position + bytes.size() <= own_.size(), own_position, bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) own_[own_position + i] = bytes[i];
  }

  [[nodiscard]] const std::vector<std::byte>& own() const noexcept { return own_; }
  [[nodiscard]] const std::vector<splice>& splices() const noexcept { return splices_; }
  /// Moves the own bytes out; the splices' positions refer to them.
  [[nodiscard]] std::vector<std::byte> take_own() noexcept { return std::move(own_); }

  /// Calls visit(std::span<const std::byte>) for every piece, in the order of the frame.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::size_t at = 0;
    for (const splice& piece : splices_) {
      if (piece.position > at)
        visit(std::span<const std::byte>(own_.data() + at, piece.position - at));
      at = piece.position;
      visit(piece.bytes);
    }
    if (at < own_.size()) visit(std::span<const std::byte>(own_.data() + at, own_.size() - at));
  }

  /// A copy in one piece.
  [[nodiscard]] std::vector<std::byte> flatten() const {
    std::vector<std::byte> all;
    all.reserve(size());
    for_each([&](std::span<const std::byte> piece) {
      all.insert(all.end(), piece.begin(), piece.end());
    });
    return all;
  }

 private:
  std::vector<std::byte> own_;
  std::vector<splice> splices_;
  std::size_t borrowed_bytes_ = 0;
};

}  // namespace partita::wire
