#include "actors/tracked_record.hpp"

#include "actors/topic_routes.hpp"

#include <partita/contract.hpp>

namespace partita::actors {

tracked_record::tracked_record(const produce_options& options, completion_slot receiver)
    : receiver_(receiver),
      delivery_timeout_(options.delivery_timeout),
      admission_timeout_(options.admission_timeout),
      command_(*this) {
  if (options.cancellation.stop_possible())
    by_token_.emplace(options.cancellation, asker{this, false});
  if (options.handle) by_handle_.emplace(options.handle.token(), asker{this, false});
  if (options.admission_cancellation.stop_possible())
    by_admission_.emplace(options.admission_cancellation, asker{this, true});
}

bool tracked_record::is_ended() const noexcept {
  const bool admitting =
      place_ != place::drain && place_ != place::partition && place_ != place::answered;
  return cancelled_.load(std::memory_order_relaxed) || (admitting && admission_cancelled_);
}

// Its way

bool tracked_record::enters_line(admission_place& place) noexcept {
  std::lock_guard lock(mutex_);
  if (is_ended()) return false;
  line_ = &place;
  place_ = place::line;
  return true;
}

bool tracked_record::leaves_line() noexcept {
  std::lock_guard lock(mutex_);
  line_ = nullptr;
  place_ = place::nowhere;
  return !is_ended();
}

bool tracked_record::enters_route(topic_route& route) noexcept {
  std::lock_guard lock(mutex_);
  if (is_ended()) return false;
  route_ = &route;
  place_ = place::route;
  return true;
}

void tracked_record::enters_drain(topic_route& route) noexcept {
  std::lock_guard lock(mutex_);
  route_ = &route;
  place_ = place::drain;
}

void tracked_record::enters_partition(ordered_actor_handle partition) noexcept {
  std::lock_guard lock(mutex_);
  partition_ = partition;
  place_ = place::partition;
}

void tracked_record::is_queued() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!is_ended()) return;
  }
  look_for_it();
}

bool tracked_record::answered() const noexcept {
  std::lock_guard lock(mutex_);
  return place_ == place::answered;
}

// Cancelling

void tracked_record::ask(bool for_admission) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (place_ == place::answered) return;
    if (for_admission)
      admission_cancelled_ = true;
    else
      cancelled_.store(true, std::memory_order_release);
    if (!is_ended()) return;  // admitted before its admission was cancelled
  }
  look_for_it();
}

/// Where it is not found it is on its way, and who moves it looks again.
void tracked_record::look_for_it() noexcept {
  for (;;) {
    topic_route* route = nullptr;
    {
      std::lock_guard lock(mutex_);
      switch (place_) {
        case place::nowhere:
        case place::answered:
          return;
        case place::line:
          // Under the lock: the place lives until it has called leaves_line().
          line_->withdraw();
          return;
        case place::partition:
          if (!cancelled() || std::exchange(told_partition_, true)) return;
          retain();
          if (!partition_.push(command_)) release();  // it is being answered by the stop
          return;
        case place::route:
        case place::drain:
          route = route_;
      }
    }
    if (route->withdraw(*this)) return;
    std::lock_guard lock(mutex_);
    if (in_route()) return;
  }
}

void tracked_record::complete(const completion_run& run) noexcept {
  PARTITA_ASSERT(run.size() == 1, run.size());
  end();
  run.forward(0, receiver_);
  release();
}

void tracked_record::abandon() noexcept {
  end();
  release();
}

void tracked_record::end() noexcept {
  {
    std::lock_guard lock(mutex_);
    PARTITA_ASSERT(place_ != place::answered);
    place_ = place::answered;
  }
  // These wait for an ask() that is running on another thread; it takes no lock that is held here.
  by_token_.reset();
  by_handle_.reset();
  by_admission_.reset();
}

}  // namespace partita::actors
