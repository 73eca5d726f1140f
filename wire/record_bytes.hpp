// The type of a `records` field: referred to, never copied.
//
// Invariants
// 1. Decoded, it is one view of the frame it came from. For encoding it refers to a view or to a
//    chain, which must outlive the write (L7).
// 2. Null and empty differ on the wire, and here.
//
// Threads: a view; the owner of the bytes says.
#pragma once

#include "wire/segments.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace partita::wire {

class record_bytes {
 public:
  record_bytes() noexcept = default;                      ///< null
  record_bytes(std::span<const std::byte> view) noexcept  // NOLINT: implicit by intent
      : view_(view), kind_(kind::view) {}
  record_bytes(const std::vector<std::byte>& bytes) noexcept  // NOLINT
      : view_(bytes), kind_(kind::view) {}
  record_bytes(const segment_chain& chain) noexcept
      : chain_(&chain), kind_(kind::chain) {}  // NOLINT

  [[nodiscard]] bool is_null() const noexcept { return kind_ == kind::null; }
  [[nodiscard]] std::size_t size() const noexcept {
    return kind_ == kind::chain ? chain_->size() : view_.size();
  }
  /// The decoded bytes; empty when it refers to a chain.
  [[nodiscard]] std::span<const std::byte> view() const noexcept { return view_; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    if (kind_ == kind::chain) {
      chain_->for_each(visit);
    } else if (!view_.empty()) {
      visit(view_);
    }
  }

  [[nodiscard]] std::vector<std::byte> flatten() const {
    std::vector<std::byte> all;
    all.reserve(size());
    for_each([&](std::span<const std::byte> piece) {
      all.insert(all.end(), piece.begin(), piece.end());
    });
    return all;
  }

  /// Compares bytes, wherever they lie.
  friend bool operator==(const record_bytes& left, const record_bytes& right) {
    return left.is_null() == right.is_null() && left.size() == right.size() &&
           left.flatten() == right.flatten();
  }

 private:
  enum class kind : unsigned char { null, view, chain };
  std::span<const std::byte> view_;
  const segment_chain* chain_ = nullptr;
  kind kind_ = kind::null;
};

}  // namespace partita::wire
