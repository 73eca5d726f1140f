#include <partita/produce_operation.hpp>

#include "actors/completion.hpp"
#include "api/producer_body.hpp"

#include <partita/contract.hpp>
#include <partita/producer.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace partita {
namespace {

/// The waiter whose start() this thread is inside of. An answer that comes back before start()
/// returns must not resume the coroutine from within it: a loop of refused records would eat the
/// stack.
thread_local const detail::produce_waiter* starting = nullptr;

}  // namespace

/// Between the record and the coroutine, either of which may be gone first; the second one deletes
/// it.
class detail::produce_waiter {
 public:
  produce_waiter(std::coroutine_handle<> handle, resume_executor* executor) noexcept
      : handle_(handle), executor_(executor) {}

  [[nodiscard]] std::coroutine_handle<> handle() const noexcept { return handle_; }
  [[nodiscard]] resume_executor* executor() const noexcept { return executor_; }

  /// False: the coroutine is gone, and so is this.
  bool answer(outcome result) noexcept {
    answer_.emplace(std::move(result));
    return !second();
  }
  [[nodiscard]] outcome take() noexcept { return std::move(*answer_); }
  void leave() noexcept { static_cast<void>(second()); }

 private:
  bool second() noexcept {
    if (!one_is_gone_.exchange(true, std::memory_order_acq_rel)) return false;
    delete this;
    return true;
  }

  const std::coroutine_handle<> handle_;
  resume_executor* const executor_;
  std::optional<outcome> answer_;
  std::atomic<bool> one_is_gone_{false};
};

namespace {

/// Answers operations and resumes their coroutines, in order; those that chose an executor are
/// handed over in runs.
class coroutine_target final : public actors::completion_target {
 public:
  void complete(const actors::completion_run& run) noexcept override {
    std::array<std::coroutine_handle<>, 128> held;
    std::size_t count = 0;
    resume_executor* executor = nullptr;
    const auto hand_over = [&] {
      if (count != 0) executor->resume(std::span(held).first(count));
      count = 0;
    };
    for (std::size_t i = 0; i < run.size(); ++i) {
      auto& waiter = *reinterpret_cast<detail::produce_waiter*>(run.data(i));
      const bool inside_start = &waiter == starting;
      resume_executor* const wanted = waiter.executor();
      const std::coroutine_handle<> handle = waiter.handle();
      if (!waiter.answer(run.at(i))) continue;
      if (inside_start) {
        starting = nullptr;
        continue;
      }
      if (wanted != executor || count == held.size()) hand_over();
      executor = wanted;
      if (wanted == nullptr)
        resume_here(run, i, handle);
      else
        held[count++] = handle;
    }
    hand_over();
  }

 private:
  static void resume_here(const actors::completion_run& run, std::size_t index,
                          std::coroutine_handle<> handle) noexcept {
    detail::run_call(
        run, index,
        [](void* address, const outcome&) {
          std::coroutine_handle<>::from_address(address).resume();
        },
        handle.address());
  }
};

constinit coroutine_target coroutines;

}  // namespace

void produce_operation::expect_not_started() const {
  PARTITA_EXPECTS_OR_SAY(owner_ != nullptr,
                         "an operation of produce() was started a second time (by co_await or with "
                         "a completion token): it sends its record once, call produce() again");
}

producer& produce_operation::use_up() {
  expect_not_started();
  return *std::exchange(owner_, nullptr);
}

bool produce_operation::start(std::coroutine_handle<> handle) noexcept {
  producer& owner = use_up();
  auto* const waiter = new detail::produce_waiter(handle, executor_);
  waiter_ = waiter;
  const auto* const outer = std::exchange(starting, waiter);
  owner.body().submit_waiting(
      record_, detail::producer_body::track(
                   options_, {&coroutines, reinterpret_cast<std::uint64_t>(waiter)}));
  // From here on this object may be gone: another thread may have resumed and finished the
  // coroutine.
  const bool answered = starting == nullptr;
  starting = outer;
  return !answered;
}

outcome produce_operation::take() noexcept { return waiter_->take(); }

void produce_operation::leave() noexcept { waiter_->leave(); }

}  // namespace partita
