// Answers of records that are refused before a route or a partition has them: no room, no such
// topic, a closed producer.
//
// They are told inside the call, so that its caller hears of them before he produces the next
// record (decision 10). But a callback that produces again what was refused must not go deeper and
// deeper: a refusal inside the telling of another one is told on lane 0.
//
// Invariants
// 1. Every answer is given once, those of lane 0 in the order of their calls.
// 2. No answer is given inside the telling of another answer of this kind, on any thread.
// 3. After finish() everything is answered.
//
// Threads: tell() from any; run() on lane 0; finish() when no lane runs.
#pragma once

#include "actors/completion.hpp"
#include "actors/lane.hpp"
#include "actors/producer_shared.hpp"

#include <partita/outcome.hpp>

#include <deque>
#include <mutex>

namespace partita::detail {

class refusal_line final : private actors::runnable {
 public:
  explicit refusal_line(actors::producer_shared& shared) : shared_(shared) {}

  void run_on(actors::lane& home) noexcept { home_ = &home; }
  void tell(failed answer, actors::completion_slot to) noexcept;
  /// Before the lanes end: what comes from now on waits for finish().
  void leave_lane() noexcept;
  void finish() noexcept;
  /// The calling thread is inside a callback that is told here.
  [[nodiscard]] bool tells_here() const noexcept;

 private:
  struct telling;
  struct refusal {
    failed answer;
    actors::completion_slot to;
  };
  actors::turn_result run(actors::lane& here, const actors::turn_limits& limits) noexcept override;
  void tell_now(const refusal& what) noexcept;

  static thread_local constinit const telling* innermost_;

  actors::producer_shared& shared_;
  std::mutex mutex_;
  std::deque<refusal> waiting_;
  actors::lane* home_ = nullptr;
  bool scheduled_ = false;
};

}  // namespace partita::detail
