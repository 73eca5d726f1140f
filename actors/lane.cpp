#include "actors/lane.hpp"

#include <algorithm>

namespace partita::actors {

thread_local constinit lane* lane::current_ = nullptr;

lane::lane(lane_driver& driver, const lane_options& options)
    : driver_(driver),
      options_(options),
      clock_(*options.clock),
      random_(options.seed),
      now_(clock_.now()),
      wheel_(now_),
      segments_(options.free_segments_max) {
  PARTITA_EXPECTS(options.turns_per_run > 0);
  PARTITA_EXPECTS(options.turn.commands > 0);
}

lane::~lane() {
  PARTITA_EXPECTS(!running_);
  take_incoming();
  while (runnable* late = local_.pop_front()) late->abandon();
}

void lane::schedule(runnable& work) noexcept {
  if (current_ == this && running_) {
    local_.push_back(work);
    return;
  }
  if (incoming_.push(work) == push_result::wake) driver_.wake();
}

void lane::arm(timer_node& timer, instant deadline) noexcept {
  wheel_.arm(timer, deadline);
  // In an I/O event between two rounds the driver sleeps by the deadline of the last round.
  if (!running_ && deadline < announced_) {
    announced_ = instant::min();
    driver_.wake();
  }
}

void lane::take_incoming() noexcept { local_.append(incoming_.take_all()); }

runnable* lane::next_runnable() noexcept {
  // Those that came from outside must not starve behind actors that always have more to do: they
  // are taken in as soon as the queue of this round is used up, and at the start of each round.
  if (local_.empty()) take_incoming();
  if (!options_.shuffle) return local_.pop_front();

  runnable* first = local_.pop_front();
  if (first == nullptr) return nullptr;
  std::uint64_t skipped = random_.below(8);
  while (skipped-- > 0 && !local_.empty()) {
    local_.push_back(*first);
    first = local_.pop_front();
  }
  return first;
}

instant lane::run_once() noexcept {
  PARTITA_EXPECTS(!running_);
  lane* const outer = current_;
  current_ = this;
  running_ = true;
  ++rounds_;
  refresh_now();
  wheel_.advance(now_, options_.timers_per_run);
  take_incoming();
  for (std::uint32_t turn = 0; turn < options_.turns_per_run; ++turn) {
    runnable* work = next_runnable();
    if (work == nullptr) break;
    if (work->run(*this, options_.turn) == turn_result::again) local_.push_back(*work);
  }
  running_ = false;
  current_ = outer;
  const bool idle = local_.empty() && incoming_.try_block();
  announced_ = idle ? wheel_.next_deadline() : now_;
  return announced_;
}

bool lane::run_until_idle(std::size_t rounds) noexcept {
  while (rounds-- > 0)
    if (run_once() > clock_.now()) return true;
  return false;
}

}  // namespace partita::actors
