#include <partita/testing/virtual_time.hpp>

#include "api/testing/simulated_network.hpp"

namespace partita::testing {
namespace {

class simulated_cluster final : public cluster {
 public:
  simulated_cluster(const cluster_options& options, virtual_time& time)
      : cluster(std::make_unique<cluster_core>(
            options,
            [&time] {
              return moment{time.now().count(), time.wall().time_since_epoch().count()};
            })),
        time_(time) {}
  ~simulated_cluster() override { time_.cancel(alarm_); }

  [[nodiscard]] cluster_core& model() const { return core(); }

  // Keeps one event at the model's next deadline.
  void changed() override {
    const auto due = core().next_deadline_ns();
    if (due == alarm_at_) return;
    time_.cancel(alarm_);
    alarm_at_ = due;
    alarm_ = 0;
    if (due < 0) return;
    alarm_ = time_.at(virtual_time::duration{due}, [this] {
      alarm_ = 0;
      alarm_at_ = -1;
      {
        const std::lock_guard hold{core().lock()};
        core().advance();
      }
      changed();
    });
  }

 private:
  virtual_time& time_;
  virtual_time::event_id alarm_ = 0;
  std::int64_t alarm_at_ = -1;
};

}  // namespace

struct simulation::parts {
  explicit parts(const simulation_options& options)
      : time(options.cluster.seed),
        brokers(options.cluster, time),
        network(time, brokers.model(), options.links, [this] { brokers.changed(); }) {}

  virtual_time time;
  simulated_cluster brokers;
  simulated_network network;
};

simulation::simulation(const simulation_options& options)
    : parts_(std::make_unique<parts>(options)) {}

simulation::~simulation() = default;

virtual_time& simulation::time() noexcept { return parts_->time; }
testing::cluster& simulation::cluster() noexcept { return parts_->brokers; }
wire::transport& simulation::transport() noexcept { return parts_->network; }

std::string simulation::bootstrap() const {
  std::string text;
  for (const auto& broker : parts_->brokers.model().state().brokers()) {
    if (!text.empty()) text += ',';
    text += broker.host + ":" + std::to_string(broker.port);
  }
  return text;
}

void simulation::cut_link(broker_id broker) { parts_->network.cut(broker.value); }
void simulation::refuse_link(broker_id broker) { parts_->network.refuse(broker.value); }
void simulation::heal_link(broker_id broker) { parts_->network.heal(broker.value); }
void simulation::move_address(broker_id broker, std::chrono::nanoseconds visible_after) {
  parts_->network.move_address(broker.value, visible_after);
}
void simulation::set_link_fault(broker_id broker, const link_fault& fault) {
  parts_->network.set_fault(broker.value, fault);
}
void simulation::set_links(const link_options& options) { parts_->network.set(options); }

std::uint64_t simulation::trace_hash() const noexcept { return parts_->time.trace_hash(); }

}  // namespace partita::testing
