#include <partita/testing/timed_events.hpp>

#include <partita/contract.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace partita::testing {
namespace {

// An id is the number of the event above its slot.
constexpr unsigned slot_bits = 24;
constexpr std::uint64_t slot_mask = (std::uint64_t{1} << slot_bits) - 1;
constexpr std::size_t small_heap = 64;

}  // namespace

bool timed_events::later(const entry& a, const entry& b) noexcept {
  return std::tie(a.when, a.tie, a.id) > std::tie(b.when, b.tie, b.id);
}

bool timed_events::is_live(const entry& each) const noexcept {
  return slots_[each.id & slot_mask].id == each.id;
}

timed_events::event_id timed_events::add(std::int64_t when, std::uint64_t tie,
                                         std::function<void()> action) {
  if (free_.empty()) {
    PARTITA_EXPECTS(slots_.size() < slot_mask);
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  const event_id id = (++added_ << slot_bits) | place;
  heap_.push_back({when, tie, id});
  std::push_heap(heap_.begin(), heap_.end(), later);
  free_.pop_back();
  slots_[place].id = id;
  slots_[place].action = std::move(action);
  ++live_;
  return id;
}

void timed_events::release(event_id event) noexcept {
  slot& held = slots_[event & slot_mask];
  held.id = 0;
  held.action = nullptr;
  free_.push_back(static_cast<std::uint32_t>(event & slot_mask));
  --live_;
}

void timed_events::cancel(event_id event) {
  if ((event & slot_mask) >= slots_.size() || event == 0 || slots_[event & slot_mask].id != event)
    return;
  release(event);
  if (heap_.size() > small_heap && heap_.size() > 2 * live_) {
    std::erase_if(heap_, [this](const entry& each) { return !is_live(each); });
    std::make_heap(heap_.begin(), heap_.end(), later);
  }
  drop_cancelled();
}

void timed_events::drop_cancelled() {
  while (!heap_.empty() && !is_live(heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
}

std::function<void()> timed_events::take_first() {
  PARTITA_EXPECTS(live_ > 0);
  const event_id first = heap_.front().id;
  std::function<void()> action = std::move(slots_[first & slot_mask].action);
  release(first);
  drop_cancelled();
  return action;
}

}  // namespace partita::testing
