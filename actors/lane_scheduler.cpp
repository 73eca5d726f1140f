#include "actors/lane_scheduler.hpp"

#include "actors/lane.hpp"

#include <caf/actor_clock.hpp>
#include <caf/actor_config.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/scheduled_actor.hpp>

namespace partita::actors {

/// Hands resumables to where they belong. No state: one unit serves all lanes.
class lane_scheduler::lane_unit final : public caf::execution_unit {
 public:
  explicit lane_unit(lane_scheduler& owner) : execution_unit(&owner.system()), owner_(owner) {}

  void exec_later(caf::resumable* what) override {
    if (what->subtype() == caf::resumable::scheduled_actor) {
      auto& home = static_cast<caf::scheduled_actor*>(what)->home_system();
      if (&home != &owner_.system()) return home.scheduler().enqueue(what);
    }
    owner_.enqueue(what);
  }

 private:
  lane_scheduler& owner_;
};

/// Time-outs of CAF are never used by our actors: they have the lane's wheel.
class lane_scheduler::still_clock final : public caf::actor_clock {
 public:
  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                            std::uint64_t) override {}
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                         std::uint64_t) override {}
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override {}
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) override {}
  void cancel_timeouts(caf::abstract_actor*) override {}
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override {}
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override {}
  void cancel_all() override {}
};

namespace {

/// CAF's printer is a thread that lives as long as the system. This one swallows what it gets.
class silent_printer final : public caf::monitorable_actor {
 public:
  explicit silent_printer(caf::actor_config& config) : monitorable_actor(config) {}
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
};

}  // namespace

lane_scheduler::lane_scheduler(caf::actor_system& system)
    : abstract_coordinator(system),
      unit_(std::make_unique<lane_unit>(*this)),
      clock_(std::make_unique<still_clock>()) {}

lane_scheduler::~lane_scheduler() = default;

caf::actor_system::module* lane_scheduler::make(caf::actor_system& system,
                                                caf::detail::type_list<>) {
  return new lane_scheduler(system);
}

caf::execution_unit& lane_scheduler::unit() noexcept { return *unit_; }

caf::actor_clock& lane_scheduler::clock() noexcept { return *clock_; }

void lane_scheduler::run_on(lane* home) noexcept {
  const std::lock_guard lock(mutex_);
  home_ = home;
}

void lane_scheduler::start() {
  caf::actor_config config{unit_.get()};
  utility_actors_[printer_id] = caf::make_actor<silent_printer, caf::actor>(
      system().next_actor_id(), system().node(), &system(), config);
}

void lane_scheduler::stop() { utility_actors_[printer_id] = nullptr; }

void lane_scheduler::enqueue(caf::resumable* what) {
  {
    const std::lock_guard lock(mutex_);
    if (home_ != nullptr) return home_->post([this, what] { resume_in_place(what); });
  }
  resume_in_place(what);
}

void lane_scheduler::resume_in_place(caf::resumable* what) {
  for (;;) {
    switch (what->resume(unit_.get(), 64)) {
      case caf::resumable::resume_later:
        continue;
      case caf::resumable::awaiting_message:
      case caf::resumable::done:
        caf::intrusive_ptr_release(what);
        return;
      case caf::resumable::shutdown_execution_unit:
        return;
    }
  }
}

}  // namespace partita::actors
