// A coroutine that starts at once and whose frame the test ends.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace partita::testing {

class owned_coroutine {
 public:
  struct promise_type {
    owned_coroutine get_return_object() noexcept {
      return owned_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  explicit owned_coroutine(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  owned_coroutine(owned_coroutine&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  owned_coroutine& operator=(owned_coroutine&&) = delete;
  ~owned_coroutine() { destroy(); }

  [[nodiscard]] bool done() const noexcept { return handle_.done(); }
  void destroy() noexcept {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace partita::testing
