#include <partita/testing/simulated_producer.hpp>

#include "actors/lane.hpp"
#include "actors/lane_driver.hpp"
#include "api/producer_environment.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace partita::testing {
namespace {

/// The simulation's time as the producer's clocks. It lives as long as the last driver.
class simulated_clock final : public actors::clock_source {
 public:
  explicit simulated_clock(virtual_time& time) : time_(time) {}
  [[nodiscard]] actors::instant now() const noexcept override { return time_.steady(); }
  [[nodiscard]] timestamp wall_now() const noexcept override { return time_.wall(); }

 private:
  virtual_time& time_;
};

/// Runs a lane by events of the virtual time: at once after a wake-up, else when the lane asks for
/// it.
class simulated_lane_driver final : public actors::lane_driver {
 public:
  simulated_lane_driver(virtual_time& time, wire::transport& network,
                        std::shared_ptr<simulated_clock> clock)
      : time_(time), network_(network), clock_(std::move(clock)) {}
  ~simulated_lane_driver() override { time_.cancel(event_); }

  void start(actors::lane& driven) override {
    lane_ = &driven;
    wake();
  }
  void wake() noexcept override { run_at(clock_->now()); }
  [[nodiscard]] bool runs_here() const noexcept override { return true; }
  void run_there(void (*work)(void*), void* argument) override { work(argument); }
  void request_end() noexcept override {
    lane_ = nullptr;
    time_.cancel(event_);
    event_ = 0;
  }
  void join() override {}
  [[nodiscard]] wire::transport* transport() noexcept override { return &network_; }

 private:
  void run_at(actors::instant when) {
    if (lane_ == nullptr || when == actors::never) return;
    if (event_ != 0 && planned_ <= when) return;
    time_.cancel(event_);
    planned_ = when;
    const auto delay = std::max(when - clock_->now(), actors::instant::duration::zero());
    event_ =
        time_.after(std::chrono::duration_cast<virtual_time::duration>(delay), [this] { run(); });
  }
  void run() {
    event_ = 0;
    if (lane_ == nullptr) return;
    const actors::instant next = lane_->run_once();
    run_at(next);
  }

  virtual_time& time_;
  wire::transport& network_;
  std::shared_ptr<simulated_clock> clock_;
  actors::lane* lane_ = nullptr;
  virtual_time::event_id event_ = 0;
  actors::instant planned_{};
};

}  // namespace

std::unique_ptr<producer> make_producer(simulation& world, producer_config config,
                                        const simulated_producer_options& options) {
  if (config.bootstrap_servers.empty()) config.bootstrap_servers = world.bootstrap();
  config.lanes = options.lanes;
  auto clock = std::make_shared<simulated_clock>(world.time());
  detail::environment_choice choice;
  choice.options.surroundings = {clock.get(), options.seed};
  choice.options.lanes = static_cast<std::size_t>(options.lanes);
  choice.options.shuffle = true;
  choice.options.with_caf = false;
  for (int i = 0; i < options.lanes; ++i) {
    choice.options.drivers.push_back(
        std::make_unique<simulated_lane_driver>(world.time(), world.transport(), clock));
  }
  choice.keeps_alive = clock;
  return std::make_unique<producer>(config, choice);
}

}  // namespace partita::testing
