#include "api/refusal_line.hpp"

#include <partita/contract.hpp>

#include <cstddef>
#include <utility>

namespace partita::detail {

/// What this thread tells, the innermost first. A callback may destroy another producer, which
/// tells what is left of its own.
struct refusal_line::telling {
  const refusal_line* by;
  const telling* outer;
};
thread_local constinit const refusal_line::telling* refusal_line::innermost_ = nullptr;

bool refusal_line::tells_here() const noexcept {
  for (const telling* each = innermost_; each != nullptr; each = each->outer)
    if (each->by == this) return true;
  return false;
}

void refusal_line::tell_now(const refusal& what) noexcept {
  const actors::completion_entry entry{what.to.target, what.to.data, 0, 0, 0, 0};
  actors::completion_observer observer = shared_.observe();
  observer.total = nullptr;  // no route or partition had it
  const telling now{this, innermost_};
  innermost_ = &now;
  actors::complete_all({&entry, 1}, what.answer, observer);
  innermost_ = now.outer;
}

void refusal_line::tell(failed answer, actors::completion_slot to) noexcept {
  refusal what{std::move(answer), to};
  // Of whichever producer: two that answer for each other are a circle too.
  if (innermost_ == nullptr) return tell_now(what);
  actors::lane* wakes = nullptr;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(what));
    if (home_ != nullptr && !std::exchange(scheduled_, true)) wakes = home_;
  }
  if (wakes != nullptr) wakes->schedule(*this);
}

actors::turn_result refusal_line::run(actors::lane&, const actors::turn_limits& limits) noexcept {
  for (std::uint32_t count = 0; count < limits.commands; ++count) {
    std::unique_lock lock(mutex_);
    if (waiting_.empty() || home_ == nullptr) {
      scheduled_ = false;
      return actors::turn_result::idle;
    }
    const refusal next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    tell_now(next);
  }
  return actors::turn_result::again;
}

void refusal_line::leave_lane() noexcept {
  const std::lock_guard lock(mutex_);
  home_ = nullptr;
}

/// What is produced by the callbacks of one round is told in the next.
void refusal_line::finish() noexcept {
  constexpr int rounds_max = 10'000;
  for (int round = 0;; ++round) {
    std::deque<refusal> all;
    {
      const std::lock_guard lock(mutex_);
      std::swap(all, waiting_);
    }
    if (all.empty()) return;
    PARTITA_EXPECTS_OR_SAY(round < rounds_max,
                           "callbacks go on producing to a producer that is being destroyed: what "
                           "ended with code closed must not be produced to it again",
                           round);
    for (const refusal& each : all) tell_now(each);
  }
}

}  // namespace partita::detail
