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
    // What is known stays, for the partitions' sake; only the addresses are left (KIP-1102).
    refresh_wanted_.store(true, std::memory_order_release);
    connection_.distrust(broker_errc::rebootstrap_required, "the broker asks to bootstrap");
    course_.rebootstrap_required();
    return note_rebootstrap("a broker asks for it");
  }
  course_.answered();
  error_ = {};
  error_text_.clear();
  if (asked_for_all_) refreshed_at_ = home().now();
  const std::vector<unled_partition> unled = unled_partitions();
  const cluster_snapshot before =
      std::exchange(map_, cluster_map::merge(*map_, to_answer(decoded.value), {asked_, unled}));
  note_other_cluster(before->cluster_id());
  apply_map();
  throttle(decoded.value.throttle_time_ms);
  if (another_should_be_asked(*before))
    connection_.distrust(client_errc::unexpected_answer,
                         "it knows older leaders than those that do not serve us");
}

/// Of topics without ids: for these alone it decides something.
std::vector<unled_partition> metadata_actor::unled_partitions() const {
  std::vector<unled_partition> found;
  for (const topic_route* route : interesting_) {
    const auto known = topics_.find(route);
    if (known == topics_.end() || known->second.identity.known()) continue;
    const auto& partitions = known->second.partitions;
    for (std::size_t i = 0; i < partitions.size(); ++i)
      if (partitions[i].told && partitions[i].actor->unled(home().now()))
        found.push_back({route->name(), partition_id(static_cast<std::int32_t>(i))});
  }
  return found;
}

/// A broker that lags is not asked for ever, and does not decide alone what the topic is.
bool metadata_actor::another_should_be_asked(const cluster_map& before) const {
  if (map_->brokers().size() < 2) return false;
  return std::any_of(interesting_.begin(), interesting_.end(), [&](const topic_route* route) {
    const topic_facts* old = before.topic(route->name());
    const topic_facts* now = map_->topic(route->name());
    return old != nullptr && now != nullptr && now->rewind.answers > old->rewind.answers &&
           now->rewind.answers % 2 == 0;
  });
}

/// One that took its place under the same addresses is followed, but not without a word: servers of
/// two clusters in one list look the same.
void metadata_actor::note_other_cluster(const std::string& before) {
  const std::string& now = map_->cluster_id();
  if (before.empty() || before == now) return;
  shared_.log(log_level::warning, [&] {
    return "cluster: a broker says it belongs to cluster " + now + ", until now it was " + before +
           "; does bootstrap.servers name two clusters?";
  });
}

void metadata_actor::tell_address(broker_entry& entry, const broker_endpoint& endpoint) {
  entry.host = endpoint.host;
  entry.port = static_cast<std::uint16_t>(endpoint.port);
  auto* address = new broker_address_command;
  address->kind = broker_address_kind;
  address->host = entry.host;
  address->port = entry.port;
  if (!entry.handle.push(*address)) delete address;
}

void metadata_actor::tell_addresses() {
  for (auto& [id, entry] : brokers_) {
    const broker_endpoint* endpoint = map_->broker(broker_id(id));
    if (endpoint != nullptr && (endpoint->host != entry.host || endpoint->port != entry.port))
      tell_address(entry, *endpoint);
  }
}

/// Says nothing about whether the rest is still true, so neither age nor backoff of the metadata
/// change.
void metadata_actor::apply_hints(const leader_hints& hints) {
  const cluster_snapshot next = cluster_map::apply_hints(map_, hints.leaders, hints.endpoints);
  if (next == map_) return;
  map_ = next;
  tell_addresses();
  bool unresolved = false;
  for (topic_route* route : interesting_)
    if (map_->topic(route->name()) != nullptr) apply_topic(*route, unresolved);
}

void metadata_actor::apply_map() {
  tell_addresses();
  bool unresolved = false;
  for (topic_route* route : interesting_) apply_topic(*route, unresolved);
  if (unresolved) {
    if (asked_for_all_) ++refresh_attempts_;
    refresh_wanted_.store(true, std::memory_order_release);
  } else {
    refresh_attempts_ = 0;
  }
  // An answer about new topics is no reason to put off what waits for the others.
  const instant now = home().now();
  if (!asked_for_all_ && refresh_not_before_ > now) return;
  // Also after a good answer: partitions that meet one error after the other must not make a storm.
  refresh_not_before_ =
      now + backoff_after({settings_.retry_backoff, settings_.retry_backoff_max},
                          std::max(refresh_attempts_, 1), home().random().fraction());
}

void metadata_actor::apply_topic(topic_route& route, bool& unresolved) {
  const topic_facts* facts = map_->topic(route.name());
  known_topic& known = topics_[&route];
  if (facts == nullptr && !known.asked) return;  // it came while others were asked for
  known.answered = true;
  if (facts == nullptr || facts->partitions.empty()) {
    unresolved = unknown_for_now(route, known, facts) || unresolved;
    return;
  }
  const bool made_again = known.incarnation != facts->incarnation;
  const bool replaced = made_again || (known.identity.known() && known.identity != facts->id);
  if (made_again)
    shared_.log(log_level::notice, [&] {
      return "topic " + route.name() +
             ": its leader epochs went back, so it is taken for one that was made again";
    });
  if (made_again || known.identity != facts->id) {
    known.incarnation = facts->incarnation;
    known.identity = facts->id;
    for (known_partition& each : known.partitions) each.told = false;
  }
  make_partitions(route, known, *facts);
  if (!tell_leaders(known, *facts) || facts->incomplete) unresolved = true;
  if (known.tabled != facts->partitions.size())
    unresolved = !publish_table(route, known, facts->partitions.size(), replaced) || unresolved;
}

/// True if it is worth asking for again: somebody waits, or a partition of it is at work.
bool metadata_actor::unknown_for_now(topic_route& route, const known_topic& known,
                                     const topic_facts* facts) {
  const broker_errc error =
      facts == nullptr ? broker_errc::unknown_topic_or_partition : facts->error;
  if (hopeless(error)) {
    route.fail_waiting(make_error_code(error), {}, &answer_in_route, this);
    route.wanted.store(false, std::memory_order_release);
    if (!route.has_waiting()) return false;
  }
  return route.has_waiting() || !known.partitions.empty();
}

/// False while an earlier growth drains: one at a time.
bool metadata_actor::publish_table(topic_route& route, known_topic& known, std::size_t count,
                                   bool replaced) {
  const bool grows = route.table() != nullptr && count > known.tabled && !replaced;
  if (settings_.drain_first && grows && route.draining()) return false;
  auto table = std::make_unique<partition_table>();
  for (std::size_t i = 0; i < known.partitions.size(); ++i)
    (i < count ? table->partitions : table->former)
        .push_back({known.partitions[i].actor, known.partitions[i].handle});
  known.tabled = count;
  if (settings_.drain_first && grows)
    route.publish_drained(std::move(table), &answer_in_route, &answer_held, this);
  else
    route.publish(std::move(table), &answer_in_route, this);
  return true;
}

void metadata_actor::make_partitions(topic_route& route, known_topic& known,
                                     const topic_facts& facts) {
  for (std::size_t i = known.partitions.size(); i < facts.partitions.size(); ++i) {
    broker_entry* leader = broker_for(facts.partitions[i].leader);
    lane& where = leader == nullptr ? home() : *leader->actor->self_lane();
    partition_settings settings = settings_.partition_of(route.name());
    settings.fitting = route.fitting;
    auto body = std::make_unique<partition_actor>(route.name(), facts.id,
                                                  partition_id(static_cast<std::int32_t>(i)),
                                                  settings, shared_, *this);
    known_partition made;
    made.actor = body.get();
    made.handle = actors_.spawn(std::move(body), where);
    known.partitions.push_back(made);
  }
}

/// False while a partition has no leader that can be reached.
bool metadata_actor::tell_leaders(known_topic& known, const topic_facts& facts) {
  bool all_led = true;
  for (std::size_t i = 0; i < known.partitions.size(); ++i) {
    // A topic that was created again may have fewer partitions than before.
    const bool exists = i < facts.partitions.size();
    const partition_facts fact = exists ? facts.partitions[i] : partition_facts{};
    known_partition& each = known.partitions[i];
    broker_entry* leader = broker_for(fact.leader);
    if (leader == nullptr && exists) all_led = false;
    const broker_id id = leader == nullptr ? broker_id() : fact.leader;
    std::error_code why;
    if (!exists)
      why = broker_errc::unknown_topic_or_partition;
    else if (leader == nullptr && fact.leader.known())
      why = client_errc::leader_without_address;
    else if (leader == nullptr)
      why = fact.error == broker_errc::none ? broker_errc::leader_not_available : fact.error;
    if (each.told && each.leader == id && each.epoch == fact.epoch && each.why == why) continue;
    each.told = true;
    each.leader = id;
    each.epoch = fact.epoch;
    each.why = why;
    auto* news = new leader_command;
    news->kind = leader_command_kind;
    news->leader = leader == nullptr ? nullptr : leader->actor;
    news->id = id;
    news->epoch = fact.epoch;
    news->why = why;
    news->topic_identity = facts.id;
    news->incarnation = facts.incarnation;
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
  entry.handle = actors_.spawn(std::move(body), where);
  tell_address(entry, *endpoint);
  return &brokers_.emplace(id.value, std::move(entry)).first->second;
}

void metadata_actor::expire_waiting() {
  const instant now = home().now();
  constexpr duration drain_look = std::chrono::milliseconds(100);
  for (topic_route* route : interesting_) {
    if (route->draining()) {
      route->forward_expired(now, settings_.partition.delivery_timeout);
      arm(now + drain_look);
    }
    if (route->table() != nullptr) continue;
    // Brokers that answer, and know no such topic, are believed sooner than silence (META-06).
    const topic_facts* facts = map_->topic(route->name());
    const bool denied = facts != nullptr && facts->gone;
    const std::chrono::milliseconds waiting_max =
        denied ? std::min(settings_.topic_wait_max, settings_.topic_grace)
               : settings_.topic_wait_max;
    arm(route->expire(now, waiting_max, cause_for(*route), &answer_in_route, this));
    if (route->has_waiting()) continue;
    route->wanted.store(false, std::memory_order_release);
    if (route->has_waiting()) want_topic(*route);  // it came between the two
  }
}

std::error_code metadata_actor::cause_for(const topic_route& route) const {
  if (error_) return error_;
  const auto known = topics_.find(&route);
  if (known == topics_.end() || !known->second.answered) return client_errc::no_broker_answered;
  const topic_facts* facts = map_->topic(route.name());
  if (facts == nullptr) return broker_errc::unknown_topic_or_partition;
  if (facts->error != broker_errc::none) return facts->error;
  return facts->incomplete ? make_error_code(client_errc::malformed_answer)
                           : make_error_code(broker_errc::leader_not_available);
}

}  // namespace partita::actors
