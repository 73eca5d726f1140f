// CAF's view of the lanes: a coordinator without workers, clock thread or printer thread.
//
// Ordered actors schedule themselves on their lanes and never come here. What comes here are CAF's
// own service actors (at shut-down) and actors of other systems that one of ours has woken.
//
// Invariants
// 1. It starts no thread.
// 2. A resumable of another actor system goes to that system's scheduler, never on our lanes.
//
// Threads: enqueue() from any.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <memory>
#include <mutex>

namespace partita::actors {

class lane;

class lane_scheduler final : public caf::scheduler::abstract_coordinator {
 public:
  explicit lane_scheduler(caf::actor_system& system);
  ~lane_scheduler() override;

  /// For actor_system_config::load<lane_scheduler>().
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  /// From now on ours run on `home`; null (at first, and again when the lanes end): in place, on
  /// the thread that enqueues.
  void run_on(lane* home) noexcept;

  /// The unit that ordered actors run with. Stateless: shared by all lanes.
  [[nodiscard]] caf::execution_unit& unit() noexcept;

  void enqueue(caf::resumable* what) override;
  void start() override;
  void stop() override;
  [[nodiscard]] bool detaches_utility_actors() const override { return false; }
  caf::actor_clock& clock() noexcept override;

 private:
  class lane_unit;
  class still_clock;

  void resume_in_place(caf::resumable* what);

  std::unique_ptr<lane_unit> unit_;
  std::unique_ptr<still_clock> clock_;
  std::mutex mutex_;
  lane* home_ = nullptr;
};

}  // namespace partita::actors
