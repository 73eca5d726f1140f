// The calling thread is inside user code that something without lanes calls. As on a lane, get()
// must not wait there: what it waits for is done after that code.
//
// Threads: each has its own.
#pragma once

namespace partita::detail {

class callback_scope {
 public:
  callback_scope() noexcept { ++depth_; }
  ~callback_scope() { --depth_; }
  callback_scope(const callback_scope&) = delete;
  callback_scope& operator=(const callback_scope&) = delete;

  [[nodiscard]] static bool is_open() noexcept { return depth_ > 0; }

 private:
  static inline thread_local constinit int depth_ = 0;
};

}  // namespace partita::detail
