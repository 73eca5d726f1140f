#include "actors/cluster_map.hpp"

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

bool not_there(broker_errc error) noexcept {
  return error == broker_errc::unknown_topic_or_partition || error == broker_errc::unknown_topic_id;
}

bool recreated(const topic_facts& before, const topic_id& id) noexcept {
  return before.id.known() && id.known() && before.id != id;
}

/// May leader epochs of the two be compared? Not across incarnations. Without ids a topic that had
/// gone may be another one now, and a topic whose id is first learned may have been recreated
/// before: its epochs would look old for ever, so the answer is believed.
bool comparable(const topic_facts& before, const topic_answer& answer) noexcept {
  if (before.id.known()) return !recreated(before, answer.id);
  return !answer.id.known() && !before.gone;
}

void append_partition(topic_facts& topic, partition_facts facts,
                      std::span<const broker_id> replicas) {
  facts.replicas_begin = static_cast<std::uint32_t>(topic.replica_ids.size());
  facts.replicas_count = static_cast<std::uint32_t>(replicas.size());
  topic.replica_ids.insert(topic.replica_ids.end(), replicas.begin(), replicas.end());
  topic.partitions.push_back(facts);
}

/// The answer's partitions by index, the first of each; at least `known` places. What lies outside
/// is left out: the peer can not make us allocate more than it sent.
std::vector<const partition_answer*> by_index(const topic_answer& answer, std::size_t known) {
  std::vector<const partition_answer*> found(std::max(answer.partitions.size(), known), nullptr);
  for (const partition_answer& each : answer.partitions) {
    if (each.index.value < 0) continue;
    const auto index = static_cast<std::size_t>(each.index.value);
    if (index < found.size() && found[index] == nullptr) found[index] = &each;
  }
  return found;
}

/// An answer lists all of a topic's partitions; one that leaves out or repeats any says nothing
/// about how many there are, and keys must not be placed by a wrong count (META-13).
bool counts_partitions(const topic_answer& answer) {
  const std::vector<const partition_answer*> found = by_index(answer, 0);
  return std::find(found.begin(), found.end(), nullptr) == found.end();
}

topic_facts without_count(const topic_facts* before, const topic_answer& answer) {
  topic_facts topic = before != nullptr ? *before : topic_facts{.name = answer.name};
  topic.error = answer.error;
  topic.incomplete = true;
  return topic;
}

void remember_replaced(const topic_facts& before, topic_facts& topic) {
  constexpr std::size_t kept_max = 8;
  topic.replaced = before.replaced;
  topic.replaced.push_back(before.id);
  if (topic.replaced.size() > kept_max) topic.replaced.erase(topic.replaced.begin());
}

/// It names an older epoch for a partition that its known leader does not serve.
bool goes_back(const topic_facts& before, const topic_answer& answer,
               std::span<const unled_partition> unled) {
  return std::any_of(
      answer.partitions.begin(), answer.partitions.end(), [&](const partition_answer& each) {
        const partition_facts* known = before.partition(each.index);
        if (known == nullptr || !each.epoch.known() || !(each.epoch < known->epoch)) return false;
        return std::any_of(unled.begin(), unled.end(), [&](const unled_partition& one) {
          return one.partition == each.index && one.topic == before.name;
        });
      });
}

rewind_evidence weigh(rewind_evidence evidence, broker_id from) {
  ++evidence.answers;
  if (from.known() &&
      std::find(evidence.from.begin(), evidence.from.end(), from) == evidence.from.end())
    evidence.from.push_back(from);
  return evidence;
}

bool convinces(const rewind_evidence& evidence, std::size_t brokers) noexcept {
  return evidence.answers >= rewind_evidence::answers_wanted &&
         evidence.from.size() >= std::min(brokers, rewind_evidence::brokers_wanted);
}

/// How an answer is taken.
struct reading {
  const answer_origin& origin;
  std::size_t brokers = 0;  ///< that are known
};

topic_facts merge_partitions(const topic_facts* before, const topic_answer& answer,
                             const reading& how) {
  rewind_evidence rewind;
  if (before != nullptr && comparable(*before, answer) && !before->id.known() &&
      goes_back(*before, answer, how.origin.unled))
    rewind = weigh(before->rewind, how.origin.broker);
  const bool made_again = convinces(rewind, how.brokers);
  const bool same_topic = before != nullptr && !recreated(*before, answer.id) && !made_again;
  const bool epochs_hold = before != nullptr && comparable(*before, answer) && !made_again;
  const bool counted = counts_partitions(answer);
  const std::size_t known = same_topic ? before->partitions.size() : 0;
  if (!counted && known == 0) return without_count(before, answer);

  topic_facts topic{.name = answer.name, .id = answer.id, .error = answer.error};
  topic.incomplete = !counted;
  if (same_topic && !topic.id.known()) topic.id = before->id;
  if (before != nullptr) topic.incarnation = before->incarnation + (made_again ? 1 : 0);
  if (same_topic) topic.rewind = rewind;
  if (same_topic || made_again)
    topic.replaced = before->replaced;
  else if (before != nullptr)
    remember_replaced(*before, topic);

  const std::vector<const partition_answer*> answered = by_index(answer, known);
  // A topic never loses partitions, so fewer of them is an old answer.
  const std::size_t count = counted ? answered.size() : known;
  topic.partitions.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    const partition_answer* newer = index < answered.size() ? answered[index] : nullptr;
    const partition_id id = static_cast<std::int32_t>(index);
    const partition_facts* older = same_topic ? before->partition(id) : nullptr;
    const bool stale = newer != nullptr && older != nullptr && epochs_hold &&
                       newer->epoch.known() && newer->epoch < older->epoch;
    if (newer != nullptr && !stale) {
      append_partition(topic,
                       {.leader = newer->leader, .epoch = newer->epoch, .error = newer->error},
                       newer->replicas);
    } else if (older != nullptr && epochs_hold) {
      append_partition(topic, *older, before->replicas(id));
    } else {
      append_partition(topic, {}, {});
    }
  }
  return topic;
}

topic_facts merge_topic(const topic_facts* before, const topic_answer& answer, const reading& how) {
  if (before != nullptr && answer.id.known() &&
      std::find(before->replaced.begin(), before->replaced.end(), answer.id) !=
          before->replaced.end())
    return *before;
  if (not_there(answer.error) || (answer.error != broker_errc::none && answer.partitions.empty())) {
    topic_facts topic = before != nullptr ? *before : topic_facts{.name = answer.name};
    topic.error = answer.error;
    topic.gone = topic.gone || not_there(answer.error);
    return topic;
  }
  return merge_partitions(before, answer, how);
}

cluster_map::topic_pointer share(const cluster_map::topic_pointer& before, topic_facts&& after) {
  if (before != nullptr && *before == after) return before;
  return std::make_shared<const topic_facts>(std::move(after));
}

cluster_map::topic_pointer mark_gone(const cluster_map::topic_pointer& before) {
  topic_facts topic = *before;
  topic.gone = true;
  topic.error = broker_errc::unknown_topic_or_partition;
  return share(before, std::move(topic));
}

/// The answers by name, the first of each; those without a name (asked for by an id that is not
/// known) concern nobody.
std::vector<const topic_answer*> by_name(const metadata_answer& answer) {
  std::vector<const topic_answer*> sorted;
  sorted.reserve(answer.topics.size());
  for (const topic_answer& each : answer.topics)
    if (!each.name.empty()) sorted.push_back(&each);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* one, const auto* other) { return one->name < other->name; });
  sorted.erase(
      std::unique(sorted.begin(), sorted.end(),
                  [](const auto* one, const auto* other) { return one->name == other->name; }),
      sorted.end());
  return sorted;
}

}  // namespace

const partition_facts* topic_facts::partition(partition_id index) const noexcept {
  if (index.value < 0 || static_cast<std::size_t>(index.value) >= partitions.size()) return nullptr;
  return &partitions[static_cast<std::size_t>(index.value)];
}

std::span<const broker_id> topic_facts::replicas(partition_id index) const noexcept {
  const partition_facts* found = partition(index);
  if (found == nullptr) return {};
  return std::span{replica_ids}.subspan(found->replicas_begin, found->replicas_count);
}

cluster_snapshot cluster_map::merge(const cluster_map& previous, const metadata_answer& answer,
                                    const answer_origin& origin) {
  auto next = std::make_shared<cluster_map>();
  next->cluster_id_ = answer.cluster_id.empty() ? previous.cluster_id_ : answer.cluster_id;
  next->controller_ = answer.controller;
  next->merge_brokers(previous, answer);
  next->merge_topics(previous, answer, origin);
  next->keep_leader_endpoints(previous);
  return next;
}

void cluster_map::merge_brokers(const cluster_map& previous, const metadata_answer& answer) {
  // A broker that starts may list none, not even itself; that is no reason to forget the cluster.
  if (answer.brokers.empty()) {
    brokers_ = previous.brokers_;
    return;
  }
  using endpoint = const broker_endpoint&;
  brokers_ = answer.brokers;
  std::stable_sort(brokers_.begin(), brokers_.end(),
                   [](endpoint one, endpoint other) { return one.id < other.id; });
  brokers_.erase(std::unique(brokers_.begin(), brokers_.end(),
                             [](endpoint one, endpoint other) { return one.id == other.id; }),
                 brokers_.end());
}

void cluster_map::merge_topics(const cluster_map& previous, const metadata_answer& answer,
                               const answer_origin& origin) {
  const reading how{origin, std::max(previous.brokers_.size(), brokers_.size())};
  const std::vector<const topic_answer*> answers = by_name(answer);
  topics_.reserve(previous.topics_.size() + answers.size());
  auto old = previous.topics_.begin();
  auto now = answers.begin();
  while (old != previous.topics_.end() || now != answers.end()) {
    const bool only_old =
        now == answers.end() || (old != previous.topics_.end() && (*old)->name < (*now)->name);
    if (only_old) {
      topics_.push_back(answer.all_topics ? mark_gone(*old) : *old);
      ++old;
      continue;
    }
    const bool both = old != previous.topics_.end() && (*old)->name == (*now)->name;
    topics_.push_back(both ? share(*old, merge_topic(old->get(), **now, how))
                           : share(nullptr, merge_topic(nullptr, **now, how)));
    if (both) ++old;
    ++now;
  }
}

// A leader learned from a hint may be newer than the brokers' list of a lagging broker.
void cluster_map::keep_leader_endpoints(const cluster_map& previous) {
  for (const topic_pointer& topic : topics_) {
    for (const partition_facts& each : topic->partitions) {
      if (!each.leader.known() || broker(each.leader) != nullptr) continue;
      if (const broker_endpoint* known = previous.broker(each.leader)) put_broker(*known);
    }
  }
}

void cluster_map::put_broker(const broker_endpoint& endpoint) {
  const auto place =
      std::lower_bound(brokers_.begin(), brokers_.end(), endpoint.id,
                       [](const broker_endpoint& each, broker_id id) { return each.id < id; });
  if (place == brokers_.end() || place->id != endpoint.id) {
    brokers_.insert(place, endpoint);
    return;
  }
  // Hints may leave the rack out.
  place->host = endpoint.host;
  place->port = endpoint.port;
  if (!endpoint.rack.empty()) place->rack = endpoint.rack;
}

cluster_snapshot cluster_map::apply_hints(const cluster_snapshot& previous,
                                          std::span<const leader_hint> hints,
                                          std::span<const broker_endpoint> endpoints) {
  std::shared_ptr<cluster_map> next;
  std::vector<std::shared_ptr<topic_facts>> copies;
  for (const leader_hint& hint : hints) {
    const std::size_t position = previous->topic_position(hint.topic);
    if (position == previous->topics_.size() || !hint.leader.known() || !hint.epoch.known())
      continue;
    const cluster_map& current = next != nullptr ? *next : *previous;
    const topic_facts& topic = *current.topics_[position];
    const partition_facts* known = topic.partition(hint.partition);
    if (known == nullptr || hint.epoch <= known->epoch || recreated(topic, hint.id)) continue;
    const auto endpoint =
        std::find_if(endpoints.begin(), endpoints.end(),
                     [&hint](const broker_endpoint& each) { return each.id == hint.leader; });
    if (endpoint == endpoints.end() && current.broker(hint.leader) == nullptr) continue;

    if (next == nullptr) {
      next = std::make_shared<cluster_map>(*previous);
      copies.resize(previous->topics_.size());
    }
    if (endpoint != endpoints.end()) next->put_broker(*endpoint);
    std::shared_ptr<topic_facts>& copy = copies[position];
    if (copy == nullptr) {
      copy = std::make_shared<topic_facts>(topic);
      next->topics_[position] = copy;
    }
    partition_facts& changed = copy->partitions[static_cast<std::size_t>(hint.partition.value)];
    changed.leader = hint.leader;
    changed.epoch = hint.epoch;
    changed.error = broker_errc::none;
  }
  if (next == nullptr) return previous;
  return next;
}

const broker_endpoint* cluster_map::broker(broker_id id) const noexcept {
  const auto place = std::lower_bound(
      brokers_.begin(), brokers_.end(), id,
      [](const broker_endpoint& each, broker_id wanted) { return each.id < wanted; });
  return place != brokers_.end() && place->id == id ? &*place : nullptr;
}

std::size_t cluster_map::topic_position(std::string_view name) const noexcept {
  const auto place = std::lower_bound(
      topics_.begin(), topics_.end(), name,
      [](const topic_pointer& each, std::string_view wanted) { return each->name < wanted; });
  if (place == topics_.end() || (*place)->name != name) return topics_.size();
  return static_cast<std::size_t>(place - topics_.begin());
}

const topic_facts* cluster_map::topic(std::string_view name) const noexcept {
  const std::size_t position = topic_position(name);
  return position < topics_.size() ? topics_[position].get() : nullptr;
}

const partition_facts* cluster_map::partition(std::string_view name,
                                              partition_id index) const noexcept {
  const topic_facts* found = topic(name);
  return found != nullptr ? found->partition(index) : nullptr;
}

}  // namespace partita::actors
