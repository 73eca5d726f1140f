// The second half of cluster_state: brokers that stop, pause and come back, and what time does.
#include "api/testing/cluster_state.hpp"

#include <algorithm>

namespace partita::testing {

void cluster_state::stop_broker(std::int32_t id) {
  auto* found = broker(id);
  if (found == nullptr || !found->running) return;
  found->running = false;
  found->paused = found->fenced = false;
  found->last_of_block = -1;  // the rest of its block is never used
  found->next_producer_id = 0;
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) {
      if (found->isolated) partition.end_zombie(id);
      partition.set_running(id, false);
      elect_uncleanly(topic, partition);
    }
  found->isolated = false;
  beliefs_.erase(id);
}

void cluster_state::start_broker(std::int32_t id) {
  auto* found = broker(id);
  if (found == nullptr || found->running) return;
  found->running = true;
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) {
      partition.set_running(id, true);
      elect_uncleanly(topic, partition);
      refresh_fetching(topic, partition);
    }
}

void cluster_state::pause_broker(std::int32_t id, moment now) {
  auto* found = broker(id);
  if (found == nullptr || !found->running || found->paused) return;
  found->paused = true;
  found->paused_since_ns = now.steady_ns;
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) partition.set_fetching(id, false);
}

void cluster_state::resume_broker(std::int32_t id) {
  auto* found = broker(id);
  if (found == nullptr || !found->paused) return;
  found->paused = found->fenced = false;
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) refresh_fetching(topic, partition);
}

void cluster_state::hold_replication(std::string_view name, std::int32_t index, bool held) {
  auto* found = topic(name);
  auto* partition = found == nullptr ? nullptr : found->partition(index);
  if (partition == nullptr) return;
  const std::pair key{std::string{name}, index};
  if (held) {
    held_.insert(key);
  } else {
    held_.erase(key);
  }
  refresh_fetching(*found, *partition);
}

bool cluster_state::fence_paused(moment now) {
  const auto limit = std::chrono::nanoseconds{options_.broker_session_timeout}.count();
  bool any = false;
  for (auto& broker : brokers_) {
    if (!broker.paused || broker.fenced || now.steady_ns - broker.paused_since_ns < limit) continue;
    broker.fenced = any = true;
    for (auto& [name, topic] : topics_)
      for (auto& partition : topic.partitions) {
        if (partition.leader() == broker.id)
          for (const auto other : std::vector<std::int32_t>{partition.in_sync()})
            if (!brokers_[static_cast<std::size_t>(other) - 1].paused) {
              partition.lead(other);
              break;
            }
        partition.leave_in_sync(broker.id);
      }
  }
  return any;
}

void cluster_state::replicate() {
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) partition.replicate(topic.settings);
}

bool cluster_state::pass_time(moment now) {
  const bool aborted = transactions_.pass_time(now);
  const bool fenced = fence_paused(now) || aborted;
  if (fenced) replicate();
  const auto every = std::max<std::int64_t>(1, options_.producer_expiration_check.count());
  if (now.wall_ms / every != expiry_tick_) {
    expiry_tick_ = now.wall_ms / every;
    for (auto& [name, topic] : topics_)
      for (auto& partition : topic.partitions)
        partition.expire_producers(now.wall_ms, producer_expiration_.count());
  }
  return fenced;
}

std::int64_t cluster_state::next_deadline_ns() const noexcept {
  const auto limit = std::chrono::nanoseconds{options_.broker_session_timeout}.count();
  std::int64_t earliest = transactions_.next_deadline_ns();
  for (const auto& broker : brokers_) {
    if (!broker.paused || broker.fenced) continue;
    const auto due = broker.paused_since_ns + limit;
    if (earliest < 0 || due < earliest) earliest = due;
  }
  return earliest;
}

}  // namespace partita::testing
