#include "actors/lane_driver_simulated.hpp"

#include "actors/lane.hpp"

#include <partita/contract.hpp>

namespace partita::actors {

void simulated_driver::start(lane& driven) {
  PARTITA_EXPECTS(lane_ == nullptr);
  lane_ = &driven;
  wake();
}

void simulated_driver::wake() noexcept {
  woken_.store(true, std::memory_order_release);
  wake_ups_.fetch_add(1, std::memory_order_relaxed);
  if (on_wake_ != nullptr) on_wake_(context_);
}

void simulated_driver::step() {
  if (lane_ == nullptr) return;
  // Cleared first: a wake-up during the round asks for another one.
  woken_.store(false, std::memory_order_release);
  deadline_ = lane_->run_once();
}

}  // namespace partita::actors
