#include "wire/outgoing_frame.hpp"

#include <partita/contract.hpp>

#include <utility>

namespace partita::wire {

outgoing_frame::outgoing_frame(gather_buffer&& encoded) : size_(encoded.size()) {
  std::size_t at = 0;
  pieces_.reserve(encoded.splices().size() * 2 + 1);
  for (const gather_buffer::splice& splice : encoded.splices()) {
    if (splice.position > at) pieces_.push_back({nullptr, at, splice.position - at});
    at = splice.position;
    pieces_.push_back({splice.bytes.data(), 0, splice.bytes.size()});
  }
  if (encoded.own().size() > at) pieces_.push_back({nullptr, at, encoded.own().size() - at});
  owned_ = encoded.take_own();
}

void outgoing_frame::own(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t offset = owned_.size();
  owned_.insert(owned_.end(), bytes.begin(), bytes.end());
  if (!pieces_.empty() && pieces_.back().borrowed == nullptr) {
    pieces_.back().size += bytes.size();
  } else {
    pieces_.push_back({nullptr, offset, bytes.size()});
  }
  size_ += bytes.size();
}

void outgoing_frame::borrow(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  pieces_.push_back({bytes.data(), 0, bytes.size()});
  size_ += bytes.size();
}

std::span<const std::byte> outgoing_frame::piece(std::size_t index) const noexcept {
  PARTITA_EXPECTS(index < pieces_.size(), index, pieces_.size());
  const stretch& found = pieces_[index];
  const std::byte* begin =
      found.borrowed != nullptr ? found.borrowed : owned_.data() + found.offset;
  return {begin, found.size};
}

std::span<std::byte> outgoing_frame::front() noexcept {
  if (pieces_.empty() || pieces_.front().borrowed != nullptr) return {};
  return {owned_.data(), pieces_.front().size};
}

}  // namespace partita::wire
