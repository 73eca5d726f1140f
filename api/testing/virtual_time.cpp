#include <partita/testing/virtual_time.hpp>

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::testing {

std::uint64_t seeded_draws::next() noexcept {
  std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
  return mixed ^ mixed >> 31;
}

std::uint64_t seeded_draws::below(std::uint64_t bound) noexcept {
  // The bias of a remainder is below 2^-32 for every bound used here and the same on every machine.
  return bound == 0 ? 0 : next() % bound;
}

double seeded_draws::unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

virtual_time::virtual_time(std::uint64_t seed, partita::timestamp start)
    : start_(start), draws_(seed) {}

std::chrono::steady_clock::time_point virtual_time::steady() const noexcept {
  return std::chrono::steady_clock::time_point{
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(now_)};
}

partita::timestamp virtual_time::wall() const noexcept {
  return start_ + std::chrono::duration_cast<std::chrono::milliseconds>(now_);
}

virtual_time::event_id virtual_time::after(duration delay, std::function<void()> action) {
  return at(now_ + std::max(delay, duration{0}), std::move(action));
}

virtual_time::event_id virtual_time::at(duration when, std::function<void()> action) {
  PARTITA_EXPECTS(action != nullptr);
  return events_.add(std::max(when, now_).count(), draws_.next(), std::move(action));
}

void virtual_time::cancel(event_id event) { events_.cancel(event); }

void virtual_time::note(std::uint64_t value) noexcept {
  trace_ = (trace_ ^ value) * 0x100000001b3U;
  trace_ ^= trace_ >> 29;
}

bool virtual_time::step() {
  if (events_.empty()) return false;
  now_ = std::max(now_, duration{events_.first_due()});  // later than planned after a sleep only
  const std::function<void()> action = events_.take_first();
  ++run_;
  note(static_cast<std::uint64_t>(now_.count()));
  action();
  return true;
}

void virtual_time::run_for(duration length) {
  const auto end = now_ + length;
  while (!events_.empty() && events_.first_due() <= end.count()) step();
  now_ = end;
}

bool virtual_time::run_until(const std::function<bool()>& condition, duration limit) {
  const auto end = now_ + limit;
  while (!condition()) {
    if (events_.empty()) return false;
    if (events_.first_due() > end.count()) {
      now_ = end;
      return false;
    }
    step();
  }
  return true;
}

}  // namespace partita::testing
