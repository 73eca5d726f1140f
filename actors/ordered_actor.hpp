// The CAF shell of an actor: every CAF message becomes a node of the actor's only queue.
//
// With a second queue for CAF messages, a sender's records and its control messages overtake each
// other, also when one queue is always drained first. With one queue the order is exact (L5).
//
// Invariants
// 1. enqueue() ignores the execution unit that it is handed: a sender in another actor system
//    offers its own thread, and this actor runs on its lane only.
// 2. CAF's scheduler never sees this actor, and its mailbox stays empty.
// 3. Exit messages do not end it; the runtime does.
// 4. Answers go to their receivers without our execution unit, so that foreign actors run at home.
//
// Threads: enqueue() from any; the rest on the lane.
#pragma once

#include "actors/actor_cell.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/mailbox_element.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace partita::actors {

class lane_scheduler;

/// Hears that an actor has stopped; the runtime waits for all of them.
class stop_listener {
 public:
  virtual void on_actor_stopped() noexcept = 0;

 protected:
  ~stop_listener() = default;
};

struct ordered_actor_options {
  lane* home = nullptr;
  lane_scheduler* scheduler = nullptr;
  stop_listener* listener = nullptr;
  /// CAF messages that may wait; more are refused (buffer_full): senders of CAF can't be slowed
  /// down.
  std::uint32_t messages_max = 1U << 16U;
};

class ordered_actor final : public caf::event_based_actor, public cell_shell {
 public:
  ordered_actor(caf::actor_config& config, std::unique_ptr<actor_body> body,
                const ordered_actor_options& options);
  ~ordered_actor() override;

  [[nodiscard]] actor_cell& cell() noexcept { return cell_; }

  using caf::event_based_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* ignored) override;
  void launch(caf::execution_unit* unit, bool lazy, bool hide) override;
  resume_result resume(caf::execution_unit* unit, std::size_t max) override;
  [[nodiscard]] const char* name() const override { return "partita.ordered_actor"; }
  caf::behavior make_behavior() override;

 private:
  struct wrapped_message;

  void on_foreign_message(command& what) override;
  void refuse_foreign_message(command& what) noexcept override;
  void on_cell_stopped() noexcept override;
  caf::strong_actor_ptr strong_self();

  const ordered_actor_options options_;
  std::atomic<std::uint32_t> messages_waiting_{0};
  actor_cell cell_;
};

}  // namespace partita::actors
