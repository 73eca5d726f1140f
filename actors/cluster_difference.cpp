#include "actors/cluster_map.hpp"

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

using kind = cluster_change_kind;

void compare_brokers(std::span<const broker_endpoint> before,
                     std::span<const broker_endpoint> after, std::vector<cluster_change>& changes) {
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && old->id < now->id)) {
      changes.push_back({.kind = kind::broker_vanished, .broker = old->id});
      ++old;
    } else if (old == before.end() || now->id < old->id) {
      changes.push_back({.kind = kind::broker_appeared, .broker = now->id});
      ++now;
    } else {
      if (old->host != now->host || old->port != now->port)
        changes.push_back({.kind = kind::broker_moved, .broker = now->id});
      ++old;
      ++now;
    }
  }
}

std::optional<kind> leader_change(const partition_facts& before, const partition_facts& after) {
  if (before.leader != after.leader) {
    if (!before.leader.known()) return kind::leader_appeared;
    return after.leader.known() ? kind::leader_changed : kind::leader_vanished;
  }
  if (after.leader.known() && after.epoch > before.epoch) return kind::leader_epoch_raised;
  return std::nullopt;
}

void compare_partitions(const topic_facts& before, const topic_facts& after,
                        std::vector<cluster_change>& changes) {
  const std::size_t shared = std::min(before.partitions.size(), after.partitions.size());
  for (std::size_t index = 0; index < shared; ++index) {
    const partition_facts& now = after.partitions[index];
    if (const auto changed = leader_change(before.partitions[index], now))
      changes.push_back({.kind = *changed,
                         .topic = after.name,
                         .partition = static_cast<std::int32_t>(index),
                         .broker = now.leader});
  }
  if (after.partitions.size() > shared)
    changes.push_back({.kind = kind::partitions_added,
                       .topic = after.name,
                       .partition = static_cast<std::int32_t>(shared)});
}

void topic_first_seen(const topic_facts& now, std::vector<cluster_change>& changes) {
  if (!now.partitions.empty())
    changes.push_back({.kind = kind::topic_appeared, .topic = now.name});
  else if (now.gone)
    changes.push_back({.kind = kind::topic_gone, .topic = now.name, .error = now.error});
  else if (now.error != broker_errc::none)
    changes.push_back({.kind = kind::topic_error, .topic = now.name, .error = now.error});
}

void compare_topics(const topic_facts& before, const topic_facts& after,
                    std::vector<cluster_change>& changes) {
  const bool other_id = before.id.known() && after.id.known() && before.id != after.id;
  if (other_id || before.incarnation != after.incarnation) {
    changes.push_back({.kind = kind::topic_recreated, .topic = after.name});
    return;
  }
  if (before.partitions.empty() && !after.partitions.empty()) {
    changes.push_back({.kind = kind::topic_appeared, .topic = after.name});
    return;
  }
  if (before.gone != after.gone) {
    changes.push_back({.kind = after.gone ? kind::topic_gone : kind::topic_returned,
                       .topic = after.name,
                       .error = after.error});
  } else if (before.error != after.error) {
    changes.push_back({.kind = kind::topic_error, .topic = after.name, .error = after.error});
  }
  compare_partitions(before, after, changes);
}

}  // namespace

std::vector<cluster_change> difference(const cluster_map& before, const cluster_map& after) {
  std::vector<cluster_change> changes;
  compare_brokers(before.brokers(), after.brokers(), changes);
  const auto olds = before.topics();
  const auto news = after.topics();
  auto old = olds.begin();
  auto now = news.begin();
  while (old != olds.end() || now != news.end()) {
    if (now == news.end() || (old != olds.end() && (*old)->name < (*now)->name)) {
      changes.push_back({.kind = kind::topic_gone, .topic = (*old)->name});
      ++old;
    } else if (old == olds.end() || (*now)->name < (*old)->name) {
      topic_first_seen(**now, changes);
      ++now;
    } else {
      if (*old != *now) compare_topics(**old, **now, changes);
      ++old;
      ++now;
    }
  }
  return changes;
}

}  // namespace partita::actors
