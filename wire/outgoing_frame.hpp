// A frame on its way out: header bytes that it owns and stretches of memory that it borrows, such
// as the segments of sealed batches, in the order in which they are written.
//
// Invariants
// 1. Pieces are never empty and their sizes add up to size().
// 2. Borrowed memory outlives the frame's stay in the session (session.hpp, invariant 4).
//
// Threads: one at a time.
#pragma once

#include "wire/gather_buffer.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace partita::wire {

class outgoing_frame {
 public:
  outgoing_frame() = default;
  /// Takes an encoded frame over, own bytes included.
  explicit outgoing_frame(gather_buffer&& encoded);
  outgoing_frame(outgoing_frame&&) noexcept = default;
  outgoing_frame& operator=(outgoing_frame&&) noexcept = default;
  outgoing_frame(const outgoing_frame&) = delete;
  outgoing_frame& operator=(const outgoing_frame&) = delete;

  /// Appends a copy; one that follows another copy makes one piece with it.
  void own(std::span<const std::byte> bytes);
  /// Appends the memory itself.
  void borrow(std::span<const std::byte> bytes);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }
  [[nodiscard]] std::span<const std::byte> piece(std::size_t index) const noexcept;

  /// Bytes at the front that are owned and contiguous, for patching.
  [[nodiscard]] std::span<std::byte> front() noexcept;

 private:
  struct stretch {
    const std::byte* borrowed;  // null: owned, at `offset` of owned_
    std::size_t offset;
    std::size_t size;
  };

  std::vector<std::byte> owned_;
  std::vector<stretch> pieces_;
  std::size_t size_ = 0;
};

}  // namespace partita::wire
