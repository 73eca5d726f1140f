#include "actors/runtime.hpp"

#include "actors/lane_driver_asio.hpp"
#include "actors/lane_scheduler.hpp"
#include "actors/ordered_actor.hpp"

#include <partita/contract.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/logger.hpp>
#include <caf/make_actor.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

namespace partita::actors {

namespace {

/// An actor without CAF.
class plain_actor final : public cell_shell {
 public:
  plain_actor(lane& home, std::unique_ptr<actor_body> body, stop_listener& listener)
      : listener_(listener), cell_(home, std::move(body), *this) {}

  [[nodiscard]] actor_cell& cell() noexcept { return cell_; }

 private:
  void on_foreign_message(command&) override {
    PARTITA_ASSERT(!"a CAF message for an actor without CAF");
  }
  void refuse_foreign_message(command&) noexcept override {
    PARTITA_ASSERT(!"a CAF message for an actor without CAF");
  }
  void on_cell_stopped() noexcept override { listener_.on_actor_stopped(); }

  stop_listener& listener_;
  actor_cell cell_;
};

/// Makes or ends an actor system. Either changes the thread's current logger, which holds the
/// system of the maker: then ~actor_system, called on another thread, would wait for ever for the
/// maker to let go. And a caller who has an actor system himself would lose his own logger. So the
/// logger is put back to "none", or, where there is one, a thread of its own takes the change and
/// ends.
template <class Work>
void beside_the_callers_logger(Work work) {
  if (caf::logger::current_logger() != nullptr) {
    std::thread(work).join();
    return;
  }
  work();
  caf::logger::set_current_actor_system(nullptr);
}

std::uint64_t seed_or_drawn(std::uint64_t seed) {
  if (seed != 0) return seed;
  std::random_device machine;
  return (std::uint64_t{machine()} << 32U) | machine();
}

}  // namespace

class runtime_state final : public std::enable_shared_from_this<runtime_state>,
                            private stop_listener {
 public:
  explicit runtime_state(runtime_options options);
  ~runtime_state();

  ordered_actor_handle spawn(std::unique_ptr<actor_body> body, lane& home);
  void stop() noexcept;
  [[nodiscard]] bool would_wait_for_itself() const noexcept;

  std::vector<std::unique_ptr<lane>>& lanes() noexcept { return lanes_; }

 private:
  enum class phase : std::uint8_t { running, stopping, ended };

  void on_actor_stopped() noexcept override;
  void make_lanes();
  void make_system();
  actor_cell& make_actor(std::unique_ptr<actor_body> body, lane& home);
  void tell_all_to_stop() noexcept;
  [[nodiscard]] bool all_stopped() noexcept;
  void run_lanes_until_stopped() noexcept;
  void hand_over() noexcept;
  void end_drivers() noexcept;
  void release_bodies() noexcept;

  runtime_options options_;
  std::vector<std::unique_ptr<lane_driver>> drivers_;
  std::vector<std::unique_ptr<lane>> lanes_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  lane_scheduler* scheduler_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  phase phase_ = phase::running;
  bool handed_over_ = false;
  std::size_t alive_ = 0;  // actors that have not stopped
  std::vector<actor_cell*> cells_;
  std::vector<caf::strong_actor_ptr> actors_;  // keeps them from being destroyed when idle
  std::vector<std::unique_ptr<plain_actor>> plain_actors_;
};

runtime_state::runtime_state(runtime_options options) : options_(std::move(options)) {
  PARTITA_EXPECTS(options_.lanes > 0);
  PARTITA_EXPECTS(options_.drivers.empty() || options_.drivers.size() == options_.lanes);
  options_.surroundings.seed = seed_or_drawn(options_.surroundings.seed);
  make_lanes();
  if (options_.with_caf) make_system();
  for (std::size_t i = 0; i < lanes_.size(); ++i) drivers_[i]->start(*lanes_[i]);
}

void runtime_state::make_lanes() {
  drivers_ = std::move(options_.drivers);
  random_source seeds(options_.surroundings.seed);
  for (std::size_t i = 0; i < options_.lanes; ++i) {
    if (drivers_.size() == i) drivers_.push_back(make_thread_driver());
    lane_options lane_settings;
    lane_settings.clock = options_.surroundings.clock;
    lane_settings.seed = seeds.next();
    lane_settings.index = static_cast<std::uint32_t>(i);
    lane_settings.turn = options_.turn;
    lane_settings.shuffle = options_.shuffle;
    lanes_.push_back(std::make_unique<lane>(*drivers_[i], lane_settings));
  }
}

void runtime_state::make_system() {
  config_.load<lane_scheduler>();
  beside_the_callers_logger([this] { system_ = std::make_unique<caf::actor_system>(config_); });
  scheduler_ = dynamic_cast<lane_scheduler*>(&system_->scheduler());
  PARTITA_ASSERT(scheduler_ != nullptr);
  scheduler_->run_on(lanes_.front().get());
}

actor_cell& runtime_state::make_actor(std::unique_ptr<actor_body> body, lane& home) {
  if (system_ == nullptr) {
    stop_listener& listener = *this;
    auto made = std::make_unique<plain_actor>(home, std::move(body), listener);
    actor_cell& cell = made->cell();
    plain_actors_.push_back(std::move(made));
    return cell;
  }
  const ordered_actor_options how{.home = &home, .scheduler = scheduler_, .listener = this};
  // Not by actor_system::spawn(): it sets the calling thread's logger, see above.
  caf::actor_config config{&scheduler_->unit()};
  const caf::actor made = caf::make_actor<ordered_actor, caf::actor>(
      system_->next_actor_id(), system_->node(), system_.get(), config, std::move(body), how);
  auto* shell = static_cast<ordered_actor*>(caf::actor_cast<caf::abstract_actor*>(made));
  shell->launch(config.host, false, false);
  actors_.push_back(caf::actor_cast<caf::strong_actor_ptr>(made));
  return shell->cell();
}

ordered_actor_handle runtime_state::spawn(std::unique_ptr<actor_body> body, lane& home) {
  const std::lock_guard lock(mutex_);
  PARTITA_EXPECTS(phase_ == phase::running);
  actor_cell& cell = make_actor(std::move(body), home);
  cell.report_exceptions_to(options_.on_exception, options_.exception_context);
  cells_.push_back(&cell);
  ++alive_;
  cell.start();
  return ordered_actor_handle(cell);
}

void runtime_state::on_actor_stopped() noexcept {
  const std::lock_guard lock(mutex_);
  PARTITA_ASSERT(alive_ > 0);
  --alive_;
  if (alive_ > 0) return;
  changed_.notify_all();
  if (handed_over_) end_drivers();
}

bool runtime_state::all_stopped() noexcept {
  const std::lock_guard lock(mutex_);
  return alive_ == 0;
}

void runtime_state::tell_all_to_stop() noexcept {
  // Nothing is added any more: the phase has changed. Not under the lock, because a stop that runs
  // in place ends in on_actor_stopped().
  for (actor_cell* cell : cells_) cell->request_stop();
}

// On the thread that runs lanes without threads of their own. An actor stops in its next turn, so
// this ends after a few rounds; the limit is there to find a lane that does not run its actors.
void runtime_state::run_lanes_until_stopped() noexcept {
  constexpr int rounds_max = 1'000'000;
  for (int round = 0; !all_stopped(); ++round) {
    PARTITA_ASSERT(round < rounds_max, round);
    for (auto& each : lanes_) static_cast<void>(each->run_once());
  }
  for (auto& driver : drivers_) driver->request_end();
  release_bodies();
}

void runtime_state::release_bodies() noexcept {
  for (actor_cell* cell : cells_) cell->release_body();
}

void runtime_state::end_drivers() noexcept {
  for (auto& driver : drivers_) driver->request_end();
}

// On a lane's own thread: each lane thread keeps this state alive until it has left its loop; the
// last one destroys it. The order is that of stop().
void runtime_state::hand_over() noexcept {
  for (auto& driver : drivers_) driver->detach(shared_from_this());
  const std::lock_guard lock(mutex_);
  handed_over_ = true;
  if (alive_ == 0) end_drivers();
}

/// On a loop of the application's only a round of the lane is in the way, not any other handler.
bool runtime_state::would_wait_for_itself() const noexcept {
  const bool own_threads = drivers_.front()->has_thread();
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& each) {
    return own_threads ? each->runs_here() : lane::current() == each.get();
  });
}

void runtime_state::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != phase::running) return;
    phase_ = phase::stopping;
  }
  tell_all_to_stop();
  if (!drivers_.front()->has_thread()) {
    // Inside a round of the lane it can not be run, and nobody else may run it.
    for (auto& each : lanes_) PARTITA_EXPECTS(lane::current() != each.get());
    drivers_.front()->run_there(
        [](void* self) { static_cast<runtime_state*>(self)->run_lanes_until_stopped(); }, this);
    for (auto& driver : drivers_) driver->join();
    return;
  }
  for (auto& each : lanes_)
    if (each->runs_here()) return hand_over();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return alive_ == 0; });
  }
  end_drivers();
  for (auto& driver : drivers_) driver->join();
  release_bodies();
}

runtime_state::~runtime_state() {
  // Handed over: the lanes have ended, the bodies are still there.
  if (handed_over_) release_bodies();
  if (system_ != nullptr) {
    scheduler_->run_on(nullptr);
    actors_.clear();
    beside_the_callers_logger([this] { system_.reset(); });
  }
}

runtime::runtime(runtime_options options)
    : state_(std::make_shared<runtime_state>(std::move(options))) {}

runtime::~runtime() { stop(); }

std::size_t runtime::lane_count() const noexcept { return state_->lanes().size(); }

lane& runtime::lane_at(std::size_t index) noexcept {
  PARTITA_EXPECTS(index < state_->lanes().size(), index);
  return *state_->lanes()[index];
}

ordered_actor_handle runtime::spawn(std::unique_ptr<actor_body> body, lane& home) {
  return state_->spawn(std::move(body), home);
}

bool runtime::would_wait_for_itself() const noexcept { return state_->would_wait_for_itself(); }

void runtime::stop() noexcept { state_->stop(); }

}  // namespace partita::actors
