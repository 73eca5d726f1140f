// close(deadline): flush, then at the deadline answer the rest and hand the unsent records back.
//
// Invariants
// 1. Done once: when everything is answered, at the deadline at the latest, or when this ends.
// 2. The tally is that of the answers that callbacks got from the call on: what the partitions and
//    routes answered meanwhile, and who waited for room.
// 3. What ended not_written, code closed, is handed back, wherever it was.
//
// Threads: begun on any thread; finished on the lane that answers last.
#pragma once

#include "actors/lane.hpp"
#include "actors/runtime.hpp"
#include "actors/topic_routes.hpp"
#include "api/gathering.hpp"

#include <partita/operation.hpp>
#include <partita/producer.hpp>

#include <chrono>
#include <memory>

namespace partita::detail {

class producer_body;

class closing {
 public:
  closing(producer_body& body, operation_state<close_report>& state);
  ~closing();

  void begin(std::chrono::milliseconds deadline);
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }

 private:
  void flush_when_all_are_in();
  void deadline_passed();
  void flushed() noexcept;
  void unsent_gathered(std::vector<owned_record>& unsent) noexcept;
  void finish_when_complete() noexcept;

  producer_body& body_;
  operation_state<close_report>* state_;
  actors::timer_node timer_;
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  bool flushed_ = false;
  bool deadline_passed_ = false;
  bool gathered_ = false;
  close_report report_;
  actors::instant deadline_{};
  tally answered_before_;
  std::vector<owned_record> never_routed_;    // they waited for their topic's partitions
  std::vector<owned_record> never_admitted_;  // they waited for room
};

}  // namespace partita::detail
