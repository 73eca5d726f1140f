// What a metadata answer changes: brokers and partitions get their actors, partitions their
// leaders, routes their tables.
#include "actors/metadata_actor.hpp"

#include "actors/partition_actor.hpp"
#include "actors/retry.hpp"

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

metadata_answer to_answer(const wire::metadata_response& from) {
  metadata_answer answer;
  answer.cluster_id = from.cluster_id.value_or("");
  answer.controller = from.controller;
  for (const auto& broker : from.brokers) {
    if (broker.port < 1 || broker.port > 65535) continue;  // as good as no address
    answer.brokers.push_back({broker.node_id, broker.host, broker.port, broker.rack.value_or("")});
  }
  for (const auto& topic : from.topics) {
    if (!topic.name) continue;
    topic_answer one{*topic.name, topic.topic_id, topic.error_code, {}};
    for (const auto& each : topic.partitions) {
      one.partitions.push_back({each.index,
                                each.error_code,
                                each.leader,
                                each.leader_epoch,
                                {each.replicas.begin(), each.replicas.end()}});
    }
    answer.topics.push_back(std::move(one));
  }
  return answer;
}

/// Nothing heals these but an administrator: waiting records are told at once.
bool hopeless(broker_errc code) noexcept {
  return code == broker_errc::invalid_topic_exception ||
         code == broker_errc::topic_authorization_failed;
}

}  // namespace

void metadata_actor::take_metadata(const wire::session_answer& answer, std::int16_t version) {
  asking_metadata_ = false;
  auto decoded = wire::decode_response<wire::metadata_response>(version, answer.body());
  if (!decoded.ok()) {
    refresh_wanted_.store(true, std::memory_order_release);
    return connection_.distrust(client_errc::malformed_answer,
                                decoded.failure.describe("Metadata", version));
  }
  if (decoded.value.error_code == broker_errc::rebootstrap_required) {
    map_ = std::make_shared<const cluster_map>();  // KIP-1102
    refresh_wanted_.store(true, std::memory_order_release);
    return connection_.distrust(broker_errc::rebootstrap_required, "the broker asks to bootstrap");
  }
  error_ = {};
  error_text_.clear();
  refreshed_at_ = home().now();
  map_ = cluster_map::merge(*map_, to_answer(decoded.value));
  apply_map();
}

void metadata_actor::apply_map() {
  for (auto& [id, entry] : brokers_) {
    const broker_endpoint* endpoint = map_->broker(broker_id(id));
    if (endpoint == nullptr || (endpoint->host == entry.host && endpoint->port == entry.port))
      continue;
    entry.host = endpoint->host;
    entry.port = static_cast<std::uint16_t>(endpoint->port);
    auto* address = new broker_address_command;
    address->kind = broker_address_kind;
    address->host = entry.host;
    address->port = entry.port;
    if (!entry.handle.push(*address)) delete address;
  }
  bool unresolved = false;
  for (topic_route* route : interesting_) apply_topic(*route, unresolved);
  if (unresolved) {
    ++refresh_attempts_;
    refresh_wanted_.store(true, std::memory_order_release);
  } else {
    refresh_attempts_ = 0;
  }
  // Also after a good answer: partitions that meet one error after the other must not make a storm.
  refresh_not_before_ =
      home().now() + backoff_after({settings_.retry_backoff, settings_.retry_backoff_max},
                                   std::max(refresh_attempts_, 1), home().random().fraction());
}

void metadata_actor::apply_topic(topic_route& route, bool& unresolved) {
  const topic_facts* facts = map_->topic(route.name());
  known_topic& known = topics_[&route];
  if (facts == nullptr || facts->partitions.empty()) {
    const broker_errc error =
        facts == nullptr ? broker_errc::unknown_topic_or_partition : facts->error;
    if (hopeless(error)) {
      route.fail_waiting(make_error_code(error), {}, &answer_in_route, this);
      route.wanted.store(false, std::memory_order_release);
      if (!route.has_waiting()) return;
    }
    // Asked for again only while somebody waits or a partition of it is at work.
    unresolved = unresolved || route.has_waiting() || !known.partitions.empty();
    return;
  }
  if (known.identity != facts->id) {
    known.identity = facts->id;
    for (known_partition& each : known.partitions) each.told = false;
  }
  make_partitions(route, known, *facts);
  if (!tell_leaders(known, *facts)) unresolved = true;
  if (known.tabled) return;
  auto table = std::make_unique<partition_table>();
  for (const known_partition& each : known.partitions)
    table->partitions.push_back({each.actor, each.handle});
  known.tabled = true;
  route.publish(std::move(table), &answer_in_route, this);
}

void metadata_actor::make_partitions(topic_route& route, known_topic& known,
                                     const topic_facts& facts) {
  for (std::size_t i = known.partitions.size(); i < facts.partitions.size(); ++i) {
    broker_entry* leader = broker_for(facts.partitions[i].leader);
    lane& where = leader == nullptr ? home() : *leader->actor->self_lane();
    partition_settings settings = settings_.partition;
    settings.fitting = route.fitting;
    auto body = std::make_unique<partition_actor>(route.name(), facts.id,
                                                  partition_id(static_cast<std::int32_t>(i)),
                                                  settings, shared_, *this);
    known_partition made;
    made.actor = body.get();
    made.handle = actors_.spawn(std::move(body), where);
    known.partitions.push_back(made);
    known.tabled = false;
  }
}

/// False while a partition has no leader that can be reached.
bool metadata_actor::tell_leaders(known_topic& known, const topic_facts& facts) {
  bool all_led = true;
  for (std::size_t i = 0; i < facts.partitions.size(); ++i) {
    const partition_facts& fact = facts.partitions[i];
    known_partition& each = known.partitions[i];
    broker_entry* leader = broker_for(fact.leader);
    if (leader == nullptr) all_led = false;
    const broker_id id = leader == nullptr ? broker_id() : fact.leader;
    if (each.told && each.leader == id && each.epoch == fact.epoch) continue;
    each.told = true;
    each.leader = id;
    each.epoch = fact.epoch;
    auto* news = new leader_command;
    news->kind = leader_command_kind;
    news->leader = leader == nullptr ? nullptr : leader->actor;
    news->id = id;
    news->epoch = fact.epoch;
    news->topic_identity = facts.id;
    if (!each.handle.push(*news)) delete news;
  }
  return all_led;
}

metadata_actor::broker_entry* metadata_actor::broker_for(broker_id id) {
  if (!id.known()) return nullptr;
  const auto found = brokers_.find(id.value);
  if (found != brokers_.end()) return &found->second;
  const broker_endpoint* endpoint = map_->broker(id);
  if (endpoint == nullptr) return nullptr;
  lane& where = actors_.lane_at(brokers_.size() % actors_.lane_count());
  auto body = std::make_unique<broker_actor>(id, settings_.broker, shared_, *this);
  broker_entry entry;
  entry.actor = body.get();
  entry.actor->set_lane(where);
  entry.host = endpoint->host;
  entry.port = static_cast<std::uint16_t>(endpoint->port);
  entry.handle = actors_.spawn(std::move(body), where);
  auto* address = new broker_address_command;
  address->kind = broker_address_kind;
  address->host = entry.host;
  address->port = entry.port;
  if (!entry.handle.push(*address)) delete address;
  return &brokers_.emplace(id.value, std::move(entry)).first->second;
}

void metadata_actor::expire_waiting() {
  const instant now = home().now();
  for (topic_route* route : interesting_) {
    if (route->table() != nullptr) continue;
    arm(route->expire(now, settings_.topic_wait_max, cause_for(*route), &answer_in_route, this));
    if (route->has_waiting()) continue;
    route->wanted.store(false, std::memory_order_release);
    if (route->has_waiting()) want_topic(*route);  // it came between the two
  }
}

std::error_code metadata_actor::cause_for(const topic_route& route) const {
  if (error_) return error_;
  const topic_facts* facts = map_->topic(route.name());
  if (facts != nullptr && facts->error != broker_errc::none) return facts->error;
  return broker_errc::unknown_topic_or_partition;
}

}  // namespace partita::actors
