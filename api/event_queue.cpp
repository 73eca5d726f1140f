#include "api/event_queue.hpp"

#include "api/begun_operation.hpp"

#include <partita/contract.hpp>
#include <partita/events.hpp>

#include <utility>

namespace partita {
namespace detail {
namespace {

void answer(event_queue::next_state* waiting, std::optional<partition_event> with) noexcept {
  waiting->result.emplace(std::move(with));
  waiting->open();
  waiting->release();
}

}  // namespace

event_queue::event_queue(std::size_t capacity, callback_reporter& reporter)
    : capacity_(capacity), reporter_(reporter) {
  reporter_.retain();
}
event_queue::~event_queue() {
  end();
  reporter_.release();
}

void event_queue::on_event(const partition_event& what) noexcept {
  next_state* waiting = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    drop_abandoned();
    waiting = std::exchange(waiting_, nullptr);
    if (waiting == nullptr) {
      if (events_.size() == capacity_) {
        events_.pop_front();
        ++lost_;
      }
      events_.push_back(what);
    }
  }
  if (waiting != nullptr) answer(waiting, what);
}

/// The coroutine that waited was destroyed: the event is for the next one.
void event_queue::drop_abandoned() noexcept {
  if (waiting_ == nullptr || !waiting_->abandoned()) return;
  std::exchange(waiting_, nullptr)->release();
}

bool event_queue::ended() const noexcept {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void event_queue::end() noexcept {
  next_state* waiting = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    waiting = std::exchange(waiting_, nullptr);
  }
  if (waiting != nullptr) answer(waiting, std::nullopt);
}

operation<std::optional<partition_event>> event_queue::next() {
  auto* state = begun_operation<std::optional<partition_event>>(reporter_);
  operation<std::optional<partition_event>> result(*state);
  const std::lock_guard lock(mutex_);
  drop_abandoned();
  PARTITA_EXPECTS_OR_SAY(waiting_ == nullptr,
                         "events().next() was called while an earlier call still waits");
  if (!events_.empty()) {
    state->result.emplace(std::move(events_.front()));
    events_.pop_front();
    state->open();
  } else if (ended_) {
    state->result.emplace();
    state->open();
  } else {
    state->retain();
    waiting_ = state;
  }
  return result;
}

std::uint64_t event_queue::lost() const noexcept {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace detail

/// The partitions let go of the queue with their next event.
event_stream::~event_stream() {
  if (reader_ == nullptr) return;
  reader_->queue->end();
  delete reader_;
}

detail::event_queue& event_stream::queue() const {
  PARTITA_EXPECTS_OR_SAY(reader_ != nullptr, "an event stream was used that was moved from");
  return *reader_->queue;
}

operation<std::optional<partition_event>> event_stream::next() { return queue().next(); }

std::uint64_t event_stream::lost() const { return queue().lost(); }

}  // namespace partita
