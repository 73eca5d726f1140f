#include "actors/budget.hpp"

#include <partita/contract.hpp>

namespace partita::actors {

namespace {
constexpr std::uint64_t shut = 1;
}

budget::budget(std::uint64_t capacity) : capacity_(capacity), word_(capacity * 2) {
  PARTITA_EXPECTS(capacity <= UINT64_MAX / 4, capacity);
}

budget::~budget() { PARTITA_EXPECTS(first_ == nullptr); }

std::uint64_t budget::available() const noexcept {
  return word_.load(std::memory_order_acquire) / 2;
}

std::size_t budget::waiting() const noexcept {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

bool budget::try_take(std::uint64_t bytes) noexcept {
  PARTITA_EXPECTS(bytes <= capacity_, bytes, capacity_);
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  do {
    if ((seen & shut) != 0 || seen / 2 < bytes) return false;
  } while (!word_.compare_exchange_weak(seen, seen - bytes * 2, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  return true;
}

// With the lock held: takes although the fast path is shut.
bool budget::take_if_available(std::uint64_t bytes) noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  do {
    if (seen / 2 < bytes) return false;
  } while (!word_.compare_exchange_weak(seen, seen - bytes * 2, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  return true;
}

admission budget::take_or_wait(std::uint64_t bytes, budget_waiter& waiter) noexcept {
  PARTITA_EXPECTS(!waiter.queued_);
  if (try_take(bytes)) return admission::taken;
  const std::lock_guard lock(mutex_);
  if (closed_) return admission::closed;
  // First shut, then look: bytes that are returned from now on find the fast path shut and come to
  // the lock; those that were returned before are seen here. The other way round a return between
  // the look and the shutting would wake nobody.
  word_.fetch_or(shut, std::memory_order_acq_rel);
  if (first_ == nullptr && !granting_ && take_if_available(bytes)) {
    word_.fetch_and(~shut, std::memory_order_acq_rel);
    return admission::taken;
  }
  waiter.bytes = bytes;
  waiter.queued_ = true;
  waiter.next_ = nullptr;
  waiter.prev_ = last_;
  (last_ == nullptr ? first_ : last_->next_) = &waiter;
  last_ = &waiter;
  ++waiting_;
  return admission::waiting;
}

void budget::unlink(budget_waiter& waiter) noexcept {
  PARTITA_ASSERT(waiter.queued_);
  (waiter.prev_ == nullptr ? first_ : waiter.prev_->next_) = waiter.next_;
  (waiter.next_ == nullptr ? last_ : waiter.next_->prev_) = waiter.prev_;
  waiter.queued_ = false;
  --waiting_;
}

bool budget::cancel_wait(budget_waiter& waiter) noexcept {
  if (!leave_wait(waiter)) return false;
  grant_waiting();
  return true;
}

bool budget::leave_wait(budget_waiter& waiter) noexcept {
  const std::lock_guard lock(mutex_);
  if (!waiter.queued_) return false;
  unlink(waiter);
  return true;
}

/// The next one may be content with less than the one that left.
void budget::grant_waiting() noexcept {
  std::unique_lock lock(mutex_);
  grant_in_order(lock);
}

// One thread at a time grants, so that the callbacks come in the order of the queue; a thread that
// finds another one granting leaves its bytes to it. The fast path stays shut until the last
// callback has returned: otherwise a newcomer could take bytes and reach the partition before the
// record that waited longer.
void budget::grant_in_order(std::unique_lock<std::mutex>& lock) noexcept {
  if (granting_) return;
  granting_ = true;
  while (first_ != nullptr && (closed_ || take_if_available(first_->bytes))) {
    budget_waiter& waiter = *first_;
    unlink(waiter);
    const grant answer = closed_ ? grant::closed : grant::granted;
    lock.unlock();
    waiter.on_grant(waiter, answer);
    lock.lock();
  }
  granting_ = false;
  if (first_ == nullptr && !closed_) word_.fetch_and(~shut, std::memory_order_acq_rel);
}

void budget::give_back(std::uint64_t bytes) noexcept {
  const std::uint64_t before = word_.fetch_add(bytes * 2, std::memory_order_acq_rel);
  PARTITA_ASSERT(before / 2 + bytes <= capacity_, before / 2, bytes, capacity_);
  if ((before & shut) == 0) return;
  std::unique_lock lock(mutex_);
  grant_in_order(lock);
}

void budget::close() noexcept {
  std::unique_lock lock(mutex_);
  closed_ = true;
  word_.fetch_or(shut, std::memory_order_acq_rel);
  grant_in_order(lock);
}

}  // namespace partita::actors
