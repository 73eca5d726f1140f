// One thing the main thread can sleep on besides its input: signals, finished operations, freed
// room.
//
// Invariants
// 1. A wake-up that comes before the wait ends the wait: none is lost.
// 2. SIGINT and SIGTERM are counted while an object lives, twice at most: a third one kills. They
//    have their old meaning again afterwards.
//
// Threads: wake() from any thread; the rest from the thread that made it. One object at a time.
#pragma once

#include <chrono>

namespace partita::cli {

class wake_up {
 public:
  wake_up();
  ~wake_up();
  wake_up(const wake_up&) = delete;
  wake_up& operator=(const wake_up&) = delete;

  void wake() noexcept;
  /// How often the user asked to end.
  [[nodiscard]] int interrupts() const noexcept;

  /// Waits for a wake-up or, if `readable` is a descriptor, for bytes there. True: there are bytes
  /// (or the end of them).
  bool wait(int readable, std::chrono::milliseconds longest) noexcept;

 private:
  int descriptor_;
};

}  // namespace partita::cli
