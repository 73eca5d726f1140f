// A full buffer ends the linger: whoever waits for room waits for what lingers (TIME-17).
#include "api/producer_body.hpp"

#include <functional>
#include <memory>

namespace partita::detail {
namespace {

struct broker_linger_task final : actors::broker_task {
  void run(actors::broker_actor& at) override {
    at.end_linger();
    delete this;
  }
  void refuse() noexcept override { delete this; }
};

/// The brokers know which of their partitions linger; there are few brokers and many partitions.
struct linger_task final : actors::metadata_task {
  void run(actors::metadata_actor& at) override {
    for (const auto& [id, broker] : at.brokers()) {
      auto task = std::make_unique<broker_linger_task>();
      if (broker.handle.push(*task)) static_cast<void>(task.release());
    }
    delete this;
  }
  void refuse() noexcept override { delete this; }
};

}  // namespace

std::function<void()> producer_body::when_full() {
  if (config_.linger.count() == 0) return {};
  return [this] {
    auto task = std::make_unique<linger_task>();
    if (metadata_handle_.push(*task)) static_cast<void>(task.release());
  };
}

}  // namespace partita::detail
