// The result of a control call (flush, pause, recover, close, ...) that has already begun.
//
// The call takes effect in order whether or not its operation is looked at; the operation only
// tells when it is done and what came of it. It can be awaited from any coroutine, waited for by a
// thread that is not one of partita's lanes, or given a callback.
//
// Lifetime: the result is given once. get(), then() and co_await use the operation up; asking one
// that was used up or moved from is a broken contract. A coroutine may be destroyed while it waits:
// nobody is told then.
// Errors: an exception that leaves a callback, or a coroutine that was continued, is counted and
// dropped, as with a record's callback.
// Threads: an operation belongs to one thread at a time. A coroutine or callback continues on the
// lane thread that finished the work, or at once on the caller's thread if it was finished before.
// A coroutine that waits must be destroyed on that lane, or while nothing can finish.
#pragma once

#include <partita/callable.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace partita {

namespace detail {

class callback_reporter;

/// One-shot hand-over of "done" between a lane and whoever waits. Implemented in operation.cpp so
/// that mutexes and condition variables stay out of this header.
class operation_gate {
 public:
  using continuation = void (*)(void* context) noexcept;

  operation_gate() noexcept;
  virtual ~operation_gate();
  operation_gate(const operation_gate&) = delete;
  operation_gate& operator=(const operation_gate&) = delete;

  void retain() noexcept;
  void release() noexcept;  ///< deletes the gate when nobody holds it any more

  /// Marks the work as done. Exactly once.
  void open() noexcept;
  [[nodiscard]] bool is_open() const noexcept;
  /// False if it is open already; else `next` is called when it opens.
  bool continue_with(continuation next, void* context) noexcept;
  /// Who waits does not wait any more.
  void stop_waiting() noexcept;
  /// Whom exceptions are reported to; nobody if this is not called. Before open().
  void report_to(callback_reporter& whom) noexcept;
  /// Calls user code. What it throws is reported, and ends here. The gate lives until then.
  void call_guarded(void (*code)(void* context), void* context) noexcept;
  /// Nobody but the caller holds it: its operation is gone.
  [[nodiscard]] bool abandoned() const noexcept;
  /// Blocks the calling thread. Refused (contract) on a lane thread, where it would wait for
  /// itself.
  void wait() const noexcept;

 private:
  struct body;
  body* body_;
};

/// Calls it; or, inside another one that is called like this, after that one.
void call_flat(operation_gate::continuation next, void* context) noexcept;

/// A contract: an operation that has its result still.
void expect_not_used_up(bool holds_result);

template <class T>
struct operation_state final : operation_gate {
  std::optional<T> result;
};

}  // namespace detail

template <class T>
class operation {
 public:
  explicit operation(detail::operation_state<T>& state) noexcept : state_(&state) {
    state_->retain();
  }
  operation(operation&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  operation& operator=(operation&& other) noexcept {
    operation taken(std::move(other));
    std::swap(state_, taken.state_);
    return *this;
  }
  ~operation() {
    if (state_ != nullptr) state_->release();
  }

  [[nodiscard]] bool done() const { return held().is_open(); }

  /// Blocks until done. Not allowed on a lane thread (from inside a callback).
  T get() && {
    held().wait();
    return take();
  }

  /// Calls `callback(const T&)` once, when done. When that is so already, inside this call; or
  /// after the callback that this call is made from, if that one was called so too. An exception
  /// that leaves it is counted and dropped.
  template <class Callback>
  void then(Callback callback) && {
    struct pending {
      detail::operation_state<T>* state;
      Callback callback;
      static void run(void* context) noexcept {
        auto* self = static_cast<pending*>(context);
        self->state->call_guarded(&pending::call, self);
        self->state->release();
        delete self;
      }
      static void call(void* context) {
        auto* self = static_cast<pending*>(context);
        self->callback(std::as_const(*self->state->result));
      }
    };
    detail::expect_not_empty(callback);
    auto* next = new pending{&held(), std::move(callback)};
    state_ = nullptr;
    if (!next->state->continue_with(&pending::run, next)) detail::call_flat(&pending::run, next);
  }

  void operator co_await() & = delete;  // answered once: co_await std::move(operation)
  auto operator co_await() && {
    struct awaiter {
      operation self;
      std::coroutine_handle<> waiting{};
      ~awaiter() {
        if (self.state_ != nullptr) self.state_->stop_waiting();
      }
      bool await_ready() const noexcept { return self.state_->is_open(); }
      bool await_suspend(std::coroutine_handle<> handle) noexcept {
        waiting = handle;
        return self.state_->continue_with(&awaiter::run, this);
      }
      static void run(void* context) noexcept {
        auto* of = static_cast<awaiter*>(context);
        of->self.state_->call_guarded([](void* at) { static_cast<awaiter*>(at)->waiting.resume(); },
                                      of);
      }
      T await_resume() noexcept { return self.take(); }
    };
    detail::expect_not_used_up(state_ != nullptr);
    return awaiter{std::move(*this)};
  }

 private:
  [[nodiscard]] detail::operation_state<T>& held() const {
    detail::expect_not_used_up(state_ != nullptr);
    return *state_;
  }
  [[nodiscard]] T take() noexcept {
    T result = std::move(*state_->result);
    std::exchange(state_, nullptr)->release();
    return result;
  }

  detail::operation_state<T>* state_;
};

}  // namespace partita
