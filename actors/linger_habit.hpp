// Whether waiting for company pays for a record that is alone in the whole producer.
//
// Somebody who awaits each record before the next one produces nothing meanwhile: lingering costs
// him linger.ms a record and joins nothing. One wait in vain shows that, and the next lone record
// goes at once. Whoever produces faster than his records are acknowledged is never alone for long,
// and lingers as configured.
//
// Invariants
// 1. At first, and after each record that was not alone, lone records linger.
//
// Threads: any; the partitions of a producer share it, whatever their lanes. A glance that comes
// too early or too late costs one linger, or one small batch.
#pragma once

#include <atomic>

namespace partita::actors {

class linger_habit {
 public:
  /// A batch begins to linger. `alone`: one record, and nothing else of the producer is buffered or
  /// under way. True: it is to go at once.
  [[nodiscard]] bool goes_at_once(bool alone) noexcept {
    const bool in_vain = in_vain_.load(std::memory_order_relaxed);
    if (in_vain && !alone) in_vain_.store(false, std::memory_order_relaxed);
    return in_vain && alone;
  }
  /// It lingered to the end.
  void lingered(bool alone) noexcept {
    if (alone != in_vain_.load(std::memory_order_relaxed))
      in_vain_.store(alone, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> in_vain_{false};
};

}  // namespace partita::actors
