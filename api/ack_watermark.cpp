#include <partita/ack_watermark.hpp>

#include <algorithm>
#include <limits>

namespace partita {

ack_watermark::ack_watermark(std::int64_t start, std::size_t open_max) noexcept
    : open_max_(open_max), next_(start) {}

bool ack_watermark::begin(std::int64_t position) {
  std::lock_guard lock(mutex_);
  if (position < next_ || position == std::numeric_limits<std::int64_t>::max()) return false;
  if (marks_.size() >= open_max_) return false;
  marks_.push_back({position, standing::open});
  next_ = position + 1;
  return true;
}

bool ack_watermark::note(std::int64_t position, const outcome& answer) {
  std::lock_guard lock(mutex_);
  mark* const found = find(position);
  if (found == nullptr || found->state != standing::open) return false;
  found->state = answer.is_delivered() ? standing::done : standing::held;
  advance();
  return true;
}

bool ack_watermark::release(std::int64_t position) {
  std::lock_guard lock(mutex_);
  mark* const found = find(position);
  if (found == nullptr || found->state == standing::done) return false;
  found->state = standing::done;
  advance();
  return true;
}

std::int64_t ack_watermark::watermark() const {
  std::lock_guard lock(mutex_);
  return marks_.empty() ? next_ : marks_.front().position;
}

std::vector<std::int64_t> ack_watermark::held(std::size_t count_max) const {
  std::lock_guard lock(mutex_);
  std::vector<std::int64_t> found;
  for (const mark& each : marks_) {
    if (found.size() >= count_max) break;
    if (each.state == standing::held) found.push_back(each.position);
  }
  return found;
}

std::size_t ack_watermark::pending() const {
  std::lock_guard lock(mutex_);
  return marks_.size();
}

ack_watermark::mark* ack_watermark::find(std::int64_t position) {
  const auto found = std::lower_bound(
      marks_.begin(), marks_.end(), position,
      [](const mark& each, std::int64_t wanted) { return each.position < wanted; });
  return found != marks_.end() && found->position == position ? &*found : nullptr;
}

void ack_watermark::advance() {
  while (!marks_.empty() && marks_.front().state == standing::done) marks_.pop_front();
}

}  // namespace partita
