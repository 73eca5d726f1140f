#include "tests/sim/stage_world.hpp"

#include <stdexcept>

namespace partita::testing {
namespace {

class virtual_world final : public stage_world {
 public:
  virtual_world(const cluster_options& brokers, const link_options& links, std::uint64_t seed)
      : seed_(seed), world_(simulation_options{brokers, links}) {}
  testing::cluster& cluster() override { return world_.cluster(); }
  std::unique_ptr<partita::producer> make(producer_config config) override {
    return make_producer(world_, std::move(config), {1, seed_ * 7919 + 1});
  }
  std::chrono::nanoseconds now() override { return world_.time().now(); }
  simulation* simulated() override { return &world_; }

 private:
  std::uint64_t seed_;
  simulation world_;
};

class socket_world final : public stage_world {
 public:
  explicit socket_world(const cluster_options& brokers) : cluster_(brokers) {
    if (cluster_.listening())
      throw std::runtime_error("loopback: " + cluster_.listening().message());
  }
  testing::cluster& cluster() override { return cluster_; }
  std::unique_ptr<partita::producer> make(producer_config config) override {
    config.bootstrap_servers = cluster_.bootstrap();
    return std::make_unique<partita::producer>(config);
  }
  std::chrono::nanoseconds now() override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

 private:
  loopback_cluster cluster_;
};

}  // namespace

std::unique_ptr<stage_world> stage_world::in_virtual_time(const cluster_options& brokers,
                                                          const link_options& links,
                                                          std::uint64_t seed) {
  return std::make_unique<virtual_world>(brokers, links, seed);
}

std::unique_ptr<stage_world> stage_world::on_loopback(const cluster_options& brokers) {
  return std::make_unique<socket_world>(brokers);
}

}  // namespace partita::testing
