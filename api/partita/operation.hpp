// The result of a control call (flush, pause, recover, close, ...) that has already begun.
//
// The call takes effect in order whether or not its operation is looked at; the operation only
// tells when it is done and what came of it. It can be awaited from any coroutine, waited for by a
// thread that is not one of partita's lanes, or given a callback.
//
// Threads: an operation belongs to one thread at a time. A coroutine or callback continues on the
// lane thread that finished the work, or at once on the caller's thread if it was finished before.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

namespace partita {

namespace detail {

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
  /// Blocks the calling thread. Refused (contract) on a lane thread, where it would wait for
  /// itself.
  void wait() const noexcept;

 private:
  struct body;
  body* body_;
};

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
    std::swap(state_, other.state_);
    return *this;
  }
  ~operation() {
    if (state_ != nullptr) state_->release();
  }

  [[nodiscard]] bool done() const noexcept { return state_->is_open(); }

  /// Blocks until done. Not allowed on a lane thread (from inside a callback).
  T get() && {
    state_->wait();
    return std::move(*state_->result);
  }

  /// Calls `callback(const T&)` once, when done.
  template <class Callback>
  void then(Callback callback) && {
    struct pending {
      detail::operation_state<T>* state;
      Callback callback;
      static void run(void* context) noexcept {
        auto* self = static_cast<pending*>(context);
        self->callback(std::as_const(*self->state->result));
        self->state->release();
        delete self;
      }
    };
    auto* next = new pending{std::exchange(state_, nullptr), std::move(callback)};
    if (!next->state->continue_with(&pending::run, next)) pending::run(next);
  }

  auto operator co_await() && noexcept {
    struct awaiter {
      operation self;
      bool await_ready() const noexcept { return self.done(); }
      bool await_suspend(std::coroutine_handle<> handle) noexcept {
        return self.state_->continue_with(
            [](void* address) noexcept { std::coroutine_handle<>::from_address(address).resume(); },
            handle.address());
      }
      T await_resume() noexcept { return std::move(*self.state_->result); }
    };
    return awaiter{std::move(*this)};
  }

 private:
  detail::operation_state<T>* state_;
};

}  // namespace partita
