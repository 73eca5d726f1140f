#include "actors/event_hub.hpp"

#include <utility>

namespace partita::actors {

void event_hub::add(std::shared_ptr<partition_event_sink> sink) {
  const std::lock_guard lock(mutex_);
  sinks_.push_back(std::move(sink));
  empty_.store(false, std::memory_order_relaxed);
}

void event_hub::tell(const partition_event& what) noexcept {
  std::vector<std::shared_ptr<partition_event_sink>> listening;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(sinks_, [](const auto& each) { return each->ended(); });
    empty_.store(sinks_.empty(), std::memory_order_relaxed);
    listening = sinks_;
  }
  for (const auto& each : listening) each->on_event(what);
}

void event_hub::end() noexcept {
  std::vector<std::shared_ptr<partition_event_sink>> listening;
  {
    const std::lock_guard lock(mutex_);
    listening = std::exchange(sinks_, {});
    empty_.store(true, std::memory_order_relaxed);
  }
  for (const auto& each : listening) each->end();
}

}  // namespace partita::actors
