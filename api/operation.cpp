#include <partita/operation.hpp>

#include <partita/contract.hpp>

#include "actors/lane.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace partita::detail {

struct operation_gate::body {
  std::atomic<int> references{0};
  mutable std::mutex mutex;
  mutable std::condition_variable opened;
  bool open = false;
  continuation next = nullptr;
  void* context = nullptr;
};

operation_gate::operation_gate() noexcept : body_(new body) {}
operation_gate::~operation_gate() { delete body_; }

void operation_gate::retain() noexcept {
  body_->references.fetch_add(1, std::memory_order_relaxed);
}

void operation_gate::release() noexcept {
  if (body_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void operation_gate::open() noexcept {
  continuation next = nullptr;
  void* context = nullptr;
  {
    std::lock_guard lock(body_->mutex);
    PARTITA_ASSERT(!body_->open);
    body_->open = true;
    next = body_->next;
    context = body_->context;
    body_->opened.notify_all();
  }
  // Outside the lock: the continuation may drop the last reference or start the next operation.
  if (next != nullptr) next(context);
}

bool operation_gate::is_open() const noexcept {
  std::lock_guard lock(body_->mutex);
  return body_->open;
}

bool operation_gate::continue_with(continuation next, void* context) noexcept {
  std::lock_guard lock(body_->mutex);
  PARTITA_EXPECTS(body_->next == nullptr);
  if (body_->open) return false;
  body_->next = next;
  body_->context = context;
  return true;
}

void operation_gate::wait() const noexcept {
  std::unique_lock lock(body_->mutex);
  if (body_->open) return;
  PARTITA_EXPECTS(actors::lane::current() == nullptr);
  body_->opened.wait(lock, [this] { return body_->open; });
}

}  // namespace partita::detail
