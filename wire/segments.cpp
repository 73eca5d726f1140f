#include "wire/segments.hpp"

#include <cstdlib>
#include <new>

namespace partita::wire {

namespace {

segment* allocate_block() { return ::new (::operator new(segment_bytes)) segment; }

void free_block(segment* block) noexcept { ::operator delete(block); }

}  // namespace

segment_pool::~segment_pool() {
  PARTITA_ASSERT(outstanding_ == 0, outstanding_);
  while (free_ != nullptr) free_block(std::exchange(free_, free_->next));
}

segment* segment_pool::take() {
  segment* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ++outstanding_;
    if (free_ != nullptr) {
      --free_blocks_;
      block = std::exchange(free_, free_->next);
    }
  }
  if (block == nullptr) return allocate_block();
  block->next = nullptr;
  block->used = 0;
  return block;
}

void segment_pool::give_back(segment* block) noexcept {
  PARTITA_EXPECTS(block != nullptr);
  {
    const std::lock_guard lock(mutex_);
    PARTITA_EXPECTS(outstanding_ > 0);
    --outstanding_;
    if (free_blocks_ < free_blocks_max_) {
      block->next = std::exchange(free_, block);
      ++free_blocks_;
      return;
    }
  }
  free_block(block);
}

std::size_t segment_pool::outstanding() const noexcept {
  const std::lock_guard lock(mutex_);
  return outstanding_;
}

std::size_t segment_pool::free_blocks() const noexcept {
  const std::lock_guard lock(mutex_);
  return free_blocks_;
}

void segment_chain::open_block() {
  segment* const block = pool_ != nullptr ? pool_->take() : allocate_block();
  link(*block, block->begin());
  cursor_ = block->own();
  end_ = cursor_ + segment_capacity;
  ++blocks_;
}

void segment_chain::link(segment& block, const std::byte* begin) noexcept {
  if (tail_ == nullptr) {
    head_ = &block;
  } else {
    tail_->used = static_cast<std::size_t>(cursor_ - tail_begin_);
    closed_bytes_ += tail_->used;
    tail_->next = &block;
  }
  tail_ = &block;
  tail_begin_ = begin;
}

// The room behind it is none, so that nothing is ever written there.
void segment_chain::lend(lent_segment& piece) {
  PARTITA_EXPECTS(piece.lent && piece.next == nullptr && !piece.bytes.empty());
  link(piece, piece.bytes.data());
  cursor_ = end_ = const_cast<std::byte*>(piece.bytes.data() + piece.bytes.size());
}

void segment_chain::append_across_blocks(const std::byte* bytes, std::size_t count) {
  while (count > 0) {
    if (cursor_ == end_) open_block();
    const std::size_t piece = count < room() ? count : room();
    std::memcpy(cursor_, bytes, piece);
    cursor_ += piece;
    bytes += piece;
    count -= piece;
  }
}

void segment_chain::patch(std::size_t position, std::span<const std::byte> bytes) {
  PARTITA_EXPECTS(position <= size(), position, size());
  PARTITA_EXPECTS(bytes.size() <= size() - position, position, bytes.size(), size());
  for (segment* block = head_; block != nullptr && !bytes.empty(); block = block->next) {
    const std::size_t used = used_of(block);
    if (position >= used) {
      position -= used;
      continue;
    }
    const std::size_t piece = bytes.size() < used - position ? bytes.size() : used - position;
    std::memcpy(block->own() + position, bytes.data(), piece);
    bytes = bytes.subspan(piece);
    position = 0;
  }
}

void segment_chain::read(std::size_t position, std::span<std::byte> out) const {
  PARTITA_EXPECTS(position <= size(), position, size());
  PARTITA_EXPECTS(out.size() <= size() - position, position, out.size(), size());
  for (const segment* block = head_; block != nullptr && !out.empty(); block = block->next) {
    const std::size_t used = used_of(block);
    if (position >= used) {
      position -= used;
      continue;
    }
    const std::size_t piece = out.size() < used - position ? out.size() : used - position;
    std::memcpy(out.data(), block->begin() + position, piece);
    out = out.subspan(piece);
    position = 0;
  }
}

std::vector<std::byte> segment_chain::flatten(std::size_t from) const {
  std::vector<std::byte> all;
  all.reserve(size() > from ? size() - from : 0);
  for_each(
      [&](std::span<const std::byte> piece) { all.insert(all.end(), piece.begin(), piece.end()); },
      from);
  return all;
}

void segment_chain::clear() noexcept {
  while (head_ != nullptr) {
    segment* const block = std::exchange(head_, head_->next);
    if (block->lent) {
      auto& piece = static_cast<lent_segment&>(*block);
      piece.next = nullptr;
      piece.done(piece);
    } else if (pool_ != nullptr) {
      pool_->give_back(block);
    } else {
      free_block(block);
    }
  }
  tail_ = nullptr;
  tail_begin_ = cursor_ = end_ = nullptr;
  closed_bytes_ = blocks_ = 0;
}

}  // namespace partita::wire
