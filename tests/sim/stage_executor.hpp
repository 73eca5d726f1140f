// The application's side of a coroutine on the stage: started at once, continued where an executor
// that can be held says so.
//
// Threads: any; a held handle is continued by whoever releases it.
#pragma once

#include <partita/produce_operation.hpp>

#include <coroutine>
#include <exception>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace partita::testing {

struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

class stage_executor final : public resume_executor {
 public:
  void resume(std::span<const std::coroutine_handle<>> run) noexcept override {
    {
      const std::lock_guard guard(lock_);
      if (held_) {
        waiting_.insert(waiting_.end(), run.begin(), run.end());
        return;
      }
    }
    for (const std::coroutine_handle<> each : run) each.resume();
  }
  void hold() {
    const std::lock_guard guard(lock_);
    held_ = true;
  }
  void release() {
    std::vector<std::coroutine_handle<>> run;
    {
      const std::lock_guard guard(lock_);
      held_ = false;
      run.swap(waiting_);
    }
    for (const std::coroutine_handle<> each : run) each.resume();
  }

 private:
  std::mutex lock_;
  bool held_ = false;
  std::vector<std::coroutine_handle<>> waiting_;
};

}  // namespace partita::testing
