#include <partita/produce_operation.hpp>

#include "actors/completion.hpp"
#include "api/producer_body.hpp"

#include <partita/producer.hpp>

#include <array>
#include <cstddef>

namespace partita {
namespace {

/// The operation whose start() this thread is inside of. An answer that comes back before start()
/// returns must not resume the coroutine from within it: a loop of refused records would eat the
/// stack.
thread_local produce_operation* starting = nullptr;

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
      auto& operation = *reinterpret_cast<produce_operation*>(run.data(i));
      operation.answer(run.at(i));
      if (&operation == starting) {
        starting = nullptr;
        continue;
      }
      resume_executor* wanted = operation.executor();
      if (wanted != executor || count == held.size()) hand_over();
      executor = wanted;
      if (wanted == nullptr)
        resume_here(run, i, operation.handle());
      else
        held[count++] = operation.handle();
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

bool produce_operation::start(std::coroutine_handle<> handle) noexcept {
  handle_ = handle;
  produce_operation* const outer = starting;
  starting = this;
  owner_->body().submit_waiting(
      record_,
      detail::producer_body::track(options_, {&coroutines, reinterpret_cast<std::uint64_t>(this)}));
  // From here on this object may be gone: another thread may have resumed and finished the
  // coroutine.
  const bool answered = starting == nullptr;
  starting = outer;
  return !answered;
}

}  // namespace partita
