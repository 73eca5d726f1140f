// What producer.produce(record) returns: one object for every way of waiting.
//
// Order: nothing happens until the operation is started, by `co_await` or by calling it with a
// completion token (<partita/asio.hpp>). Records are ordered by these starts. One operation sends
// its record once: to start it again is a broken contract, produce() makes another one.
// Lifetime: the record's views must stay valid until then; they are copied at the start. A
// coroutine may be destroyed while it waits: its record goes on (cancel it by its options if that
// is not wanted), and nobody is told of its answer. Threads: a coroutine continues on the lane
// thread, in the partition's turn, before any later command of that partition; it must not block
// there. `resume_on` moves it to an executor of the caller's. A waiting coroutine must be destroyed
// on a thread that does not race with its being continued: on its lane or executor, or while no
// answer can come.
#pragma once

#include <partita/outcome.hpp>
#include <partita/produce_options.hpp>
#include <partita/record.hpp>

#include <coroutine>
#include <span>
#include <utility>

namespace partita {

class producer;

/// Where coroutines continue. One call hands over all coroutines of a run (a batch's neighbours
/// that chose the same executor); it is made on a lane thread, must not block and must resume each
/// once.
class resume_executor {
 public:
  virtual void resume(std::span<const std::coroutine_handle<>> run) noexcept = 0;

 protected:
  ~resume_executor() = default;
};

namespace detail {
/// How `produce(record)(token)` is carried out; filled in by <partita/asio.hpp>.
template <class Token>
struct token_initiation;
template <class Token>
concept startable_token = requires {
  sizeof(token_initiation<std::decay_t<Token>>);
};

/// What a record knows of the coroutine that waits for its answer.
class produce_waiter;
}  // namespace detail

class [[nodiscard]] produce_operation {
 public:
  produce_operation(producer& owner, const partita::record& record,
                    produce_options options = {}) noexcept
      : owner_(&owner), record_(record), options_(std::move(options)) {}
  produce_operation(const produce_operation&) = delete;
  produce_operation& operator=(const produce_operation&) = delete;
  ~produce_operation() {
    if (waiter_ != nullptr) leave();
  }

  /// The coroutine continues through `executor`, which must outlive the operation.
  produce_operation&& resume_on(resume_executor& executor) && noexcept {
    executor_ = &executor;
    return std::move(*this);
  }

  struct awaiter {
    produce_operation& self;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle) noexcept { return self.start(handle); }
    outcome await_resume() noexcept { return self.take(); }
  };
  awaiter operator co_await() && {
    expect_not_started();
    return {*this};
  }
  awaiter operator co_await() & = delete;  // sent once: co_await std::move(operation)

  /// Starts it with an Asio completion token; the handler's signature is void(outcome).
  template <detail::startable_token Token>
  auto operator()(Token&& token) && {
    return detail::token_initiation<std::decay_t<Token>>::start(use_up(), record_, options_,
                                                                std::forward<Token>(token));
  }

 private:
  /// False when the answer is there already and the coroutine need not be suspended.
  bool start(std::coroutine_handle<> handle) noexcept;
  [[nodiscard]] outcome take() noexcept;
  void leave() noexcept;
  void expect_not_started() const;
  [[nodiscard]] producer& use_up();

  producer* owner_;  // null: it was started
  partita::record record_;
  produce_options options_;
  resume_executor* executor_ = nullptr;
  detail::produce_waiter* waiter_ = nullptr;
};

}  // namespace partita
