#include <partita/operation.hpp>

#include <partita/contract.hpp>

#include "actors/completion.hpp"
#include "actors/lane.hpp"
#include "api/callback_reporter.hpp"
#include "api/callback_scope.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

namespace partita::detail {

struct operation_gate::body {
  std::atomic<int> references{0};
  mutable std::mutex mutex;
  mutable std::condition_variable opened;
  bool open = false;
  continuation next = nullptr;
  void* context = nullptr;
  callback_reporter* reporter = nullptr;  // set before anybody else knows the gate
};

operation_gate::operation_gate() noexcept : body_(new body) {}
operation_gate::~operation_gate() {
  if (body_->reporter != nullptr) body_->reporter->release();
  delete body_;
}

void operation_gate::retain() noexcept {
  body_->references.fetch_add(1, std::memory_order_relaxed);
}

void operation_gate::release() noexcept {
  if (body_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool operation_gate::abandoned() const noexcept {
  return body_->references.load(std::memory_order_acquire) == 1;
}

void operation_gate::report_to(callback_reporter& whom) noexcept {
  PARTITA_ASSERT(body_->reporter == nullptr);
  whom.retain();
  body_->reporter = &whom;
}

void operation_gate::call_guarded(void (*code)(void* context), void* context) noexcept {
  actors::completion_observer observer;
  observer.context = body_->reporter;
  if (body_->reporter != nullptr)
    observer.on_exception = [](void* reporter, std::exception_ptr what) noexcept {
      static_cast<callback_reporter*>(reporter)->report(std::move(what));
    };
  retain();
  actors::call_guarded(observer, [&] { code(context); });
  release();
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

void operation_gate::stop_waiting() noexcept {
  std::lock_guard lock(body_->mutex);
  if (!body_->open) body_->next = nullptr;
}

void operation_gate::wait() const noexcept {
  std::unique_lock lock(body_->mutex);
  if (body_->open) return;
  PARTITA_EXPECTS_OR_SAY(actors::lane::current() == nullptr && !callback_scope::is_open(),
                         "get() was called where the lane runs that has to do the work (in a "
                         "callback, or a coroutine that continued there): co_await it, or use "
                         "then()");
  const auto is_open_now = [this] { return body_->open; };
  const auto limit = body_->reporter != nullptr ? body_->reporter->get_wait_max()
                                                : callback_reporter::wait_limit();
  if (!limit) return body_->opened.wait(lock, is_open_now);
  const bool done_in_time = body_->opened.wait_for(lock, *limit, is_open_now);
  PARTITA_EXPECTS_OR_SAY(done_in_time,
                         "get() waited in vain for what a test has to decide (an unanswered record "
                         "of a mock, a ticket, an event): decide first, or use then() or co_await",
                         limit->count());
}

/// Callbacks of finished work that start more work which is finished at once would eat the stack.
void call_flat(operation_gate::continuation next, void* context) noexcept {
  struct call {
    operation_gate::continuation next;
    void* context;
  };
  static thread_local std::deque<call>* later = nullptr;
  if (later != nullptr) {
    later->push_back({next, context});
    return;
  }
  std::deque<call> mine;
  later = &mine;
  next(context);
  while (!mine.empty()) {
    const call each = mine.front();
    mine.pop_front();
    each.next(each.context);
  }
  later = nullptr;
}

void expect_not_used_up(bool holds_result) {
  PARTITA_EXPECTS_OR_SAY(holds_result,
                         "an operation was used that has given its result already (get(), then() "
                         "and co_await use it up) or was moved from");
}

}  // namespace partita::detail
