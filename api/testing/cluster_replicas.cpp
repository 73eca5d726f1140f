// The part of cluster_state that decides who replicates: shrunk in-sync sets, zombies, unclean
// elections.
#include "api/testing/cluster_state.hpp"

#include <algorithm>

namespace partita::testing {

bool cluster_state::may_fetch(std::int32_t id, std::string_view topic,
                              std::int32_t partition) const {
  const auto& broker = brokers_[static_cast<std::size_t>(id) - 1];
  const place where{topic, partition};
  if (broker.paused || broker.isolated || held_.contains(where)) return false;
  const auto kept = kept_out_.find(where);
  return kept == kept_out_.end() || !kept->second.contains(id);
}

void cluster_state::refresh_fetching(topic_state& topic, partition_model& partition) const {
  for (const auto& broker : brokers_)
    partition.set_fetching(broker.id, may_fetch(broker.id, topic.name, partition.index()));
}

void cluster_state::limit_in_sync(std::string_view name, std::int32_t index, int count) {
  auto* found = topic(name);
  auto* partition = found == nullptr ? nullptr : found->partition(index);
  if (partition == nullptr) return;
  auto& kept = kept_out_[{found->name, index}];
  kept.clear();
  int left = std::max(1, count) - 1;  // the leader always stays
  for (const auto& replica : partition->replicas())
    if (replica.broker != partition->leader() && --left < 0) kept.insert(replica.broker);
  refresh_fetching(*found, *partition);
  for (const auto broker : kept) partition->leave_in_sync(broker);
  if (kept.empty()) kept_out_.erase({found->name, index});
}

void cluster_state::isolate_broker(std::int32_t id) {
  auto* found = broker(id);
  if (found == nullptr || !found->running || found->isolated) return;
  auto& belief = beliefs_[id];
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) {
      belief[{name, partition.index()}] = {partition.leader(), partition.leader_epoch()};
      partition.make_zombie(id);
    }
  found->isolated = true;
}

void cluster_state::rejoin_broker(std::int32_t id) {
  auto* found = broker(id);
  if (found == nullptr || !found->isolated) return;
  found->isolated = false;
  beliefs_.erase(id);
  for (auto& [name, topic] : topics_)
    for (auto& partition : topic.partitions) {
      partition.end_zombie(id);
      refresh_fetching(topic, partition);
    }
}

std::optional<std::pair<std::int32_t, std::int32_t>> cluster_state::believed_leader(
    std::int32_t id, std::string_view topic, std::int32_t partition) const {
  const auto beliefs = beliefs_.find(id);
  if (beliefs == beliefs_.end()) return std::nullopt;
  const auto found = beliefs->second.find({std::string{topic}, partition});
  if (found == beliefs->second.end()) return std::nullopt;
  return found->second;
}

void cluster_state::elect_uncleanly(topic_state& topic, partition_model& partition) const {
  if (partition.leader() >= 0 || !topic.settings.unclean_election) return;
  for (const auto& replica : partition.replicas())
    if (replica.running) {
      partition.lead(replica.broker);
      return;
    }
}

}  // namespace partita::testing
