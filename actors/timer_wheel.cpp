#include "actors/timer_wheel.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <bit>

namespace partita::actors {

namespace {
constexpr std::chrono::milliseconds tick_length{1};
}

timer_node::~timer_node() { PARTITA_EXPECTS(is_head() || !armed()); }

timer_wheel::timer_wheel(instant origin) : origin_(origin) {}

timer_wheel::~timer_wheel() {
  for (timer_node& head : heads_)
    while (head.next_ != &head) detach(*head.next_);
  while (due_.next_ != &due_) detach(*due_.next_);
}

std::uint64_t timer_wheel::tick_at_or_before(instant time) const noexcept {
  if (time <= origin_) return 0;
  return static_cast<std::uint64_t>((time - origin_) / tick_length);
}

std::uint64_t timer_wheel::tick_at_or_after(instant time) const noexcept {
  constexpr std::uint64_t last = (std::uint64_t{1} << (slot_bits * levels)) - 1;
  if (time <= origin_) return 0;
  const auto since = time - origin_;
  auto ticks = static_cast<std::uint64_t>(since / tick_length);
  if (since % tick_length != since.zero()) ++ticks;
  return std::min(ticks, last);
}

void timer_wheel::link_last(timer_node& head, timer_node& node) noexcept {
  node.prev_ = head.prev_;
  node.next_ = &head;
  head.prev_->next_ = &node;
  head.prev_ = &node;
}

void timer_wheel::detach(timer_node& node) noexcept {
  node.prev_->next_ = node.next_;
  node.next_->prev_ = node.prev_;
  node.next_ = nullptr;
  node.prev_ = nullptr;
}

// A timer lies on the level of the highest 6-bit group in which its tick differs from the current
// one. So all timers of a level are nearer than those of the levels above, and the slots of a level
// are opened in rising order without ever wrapping round.
void timer_wheel::place(timer_node& node) noexcept {
  if (node.tick_ <= tick_) {
    node.place_ = -1;
    link_last(due_, node);
    return;
  }
  const int level = (static_cast<int>(std::bit_width(node.tick_ ^ tick_)) - 1) / slot_bits;
  const int slot = static_cast<int>((node.tick_ >> (slot_bits * level)) & (slots - 1));
  node.place_ = static_cast<std::int16_t>(level * slots + slot);
  link_last(heads_[node.place_], node);
  occupied_[static_cast<std::size_t>(level)] |= std::uint64_t{1} << slot;
}

void timer_wheel::arm(timer_node& node, instant deadline) noexcept {
  cancel(node);
  if (deadline == never) return;
  node.deadline_ = deadline;
  node.tick_ = tick_at_or_after(deadline);
  place(node);
  ++size_;
}

void timer_wheel::cancel(timer_node& node) noexcept {
  PARTITA_EXPECTS(!node.is_head());
  if (!node.armed()) return;
  PARTITA_ASSERT(size_ > 0);
  detach(node);
  --size_;
  if (node.place_ < 0) return;
  const timer_node& head = heads_[node.place_];
  if (head.next_ == &head)
    occupied_[static_cast<std::size_t>(node.place_ / slots)] &=
        ~(std::uint64_t{1} << (node.place_ % slots));
}

int timer_wheel::lowest_level() const noexcept {
  for (int level = 0; level < levels; ++level)
    if (occupied_[static_cast<std::size_t>(level)] != 0) return level;
  return -1;
}

std::uint64_t timer_wheel::next_tick() const noexcept {
  const int level = lowest_level();
  if (level < 0) return UINT64_MAX;
  const int shift = slot_bits * level;
  const auto slot =
      static_cast<std::uint64_t>(std::countr_zero(occupied_[static_cast<std::size_t>(level)]));
  const std::uint64_t above = (tick_ >> (shift + slot_bits)) << (shift + slot_bits);
  return above | (slot << shift);
}

// Moves to the next occupied slot and hands its timers down: to the levels below, or to those due.
void timer_wheel::open_next() noexcept {
  const int level = lowest_level();
  const std::uint64_t tick = next_tick();
  PARTITA_ASSERT(tick > tick_, tick, tick_);
  tick_ = tick;
  const int slot = static_cast<int>((tick >> (slot_bits * level)) & (slots - 1));
  occupied_[static_cast<std::size_t>(level)] &= ~(std::uint64_t{1} << slot);
  timer_node& head = heads_[level * slots + slot];
  while (head.next_ != &head) {
    timer_node& node = *head.next_;
    detach(node);
    place(node);
  }
}

std::size_t timer_wheel::advance(instant now, std::size_t limit) noexcept {
  const std::uint64_t target = tick_at_or_before(now);
  while (next_tick() <= target) open_next();
  tick_ = std::max(tick_, target);
  if (due_.next_ == &due_) return 0;

  // A callback may arm a timer that is due at once. It waits for the next call, else one that
  // re-arms itself in the past would hold the lane for ever.
  timer_node last_of_now{[](timer_node&) noexcept {}};
  last_of_now.place_ = -1;
  link_last(due_, last_of_now);
  std::size_t fired = 0;
  while (due_.next_ != &last_of_now && fired < limit) {
    timer_node& node = *due_.next_;
    detach(node);
    --size_;
    ++fired;
    node.fire_(node);
  }
  detach(last_of_now);
  return fired;
}

instant timer_wheel::next_deadline() const noexcept {
  if (size_ == 0) return never;
  const std::uint64_t tick = due_.next_ != &due_ ? tick_ : next_tick();
  return origin_ + tick_length * static_cast<std::int64_t>(tick);
}

}  // namespace partita::actors
