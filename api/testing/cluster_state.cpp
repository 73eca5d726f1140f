#include "api/testing/cluster_state.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <charconv>

namespace partita::testing {
namespace {

constexpr std::int64_t producer_block = 1000;
constexpr std::int32_t partitions_max = 10'000;
constexpr int brokers_max = 100;

}  // namespace

partition_model* topic_state::partition(std::int32_t index) noexcept {
  if (index < 0 || static_cast<std::size_t>(index) >= partitions.size()) return nullptr;
  return &partitions[static_cast<std::size_t>(index)];
}

bool valid_topic_name(std::string_view name) noexcept {
  constexpr std::size_t length_max = 249;
  if (name.empty() || name.size() > length_max || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

cluster_state::cluster_state(const cluster_options& options)
    : options_(options),
      draws_(options.seed),
      next_block_(options.first_producer_id),
      producer_expiration_(options.producer_expiration) {
  PARTITA_EXPECTS(options.brokers >= 1, options.brokers);
  PARTITA_EXPECTS(options.brokers <= brokers_max, options.brokers);
  for (int i = 1; i <= options.brokers; ++i) {
    broker_state broker;
    broker.id = i;
    const auto own = options.hosts.find(i);
    broker.host = own != options.hosts.end() ? own->second : "broker-" + std::to_string(i);
    broker.port = 9092;
    brokers_.push_back(std::move(broker));
  }
  for (const auto& [name, topic] : options.topics) {
    const auto made = create_topic(name, topic);
    PARTITA_EXPECTS(made == broker_errc::none, made);
  }
}

broker_state* cluster_state::broker(std::int32_t id) noexcept {
  if (id < 1 || static_cast<std::size_t>(id) > brokers_.size()) return nullptr;
  return &brokers_[static_cast<std::size_t>(id) - 1];
}

std::int32_t cluster_state::controller() const noexcept {
  for (const auto& broker : brokers_)
    if (broker.running && !broker.paused) return broker.id;
  return -1;
}

topic_state* cluster_state::topic(std::string_view name) noexcept {
  const auto found = topics_.find(name);
  return found == topics_.end() ? nullptr : &found->second;
}

topic_state* cluster_state::topic(partita::topic_id id) noexcept {
  const auto found = names_.find(id);
  return found == names_.end() ? nullptr : topic(found->second);
}

const partition_model* cluster_state::partition(std::string_view name,
                                                std::int32_t index) const noexcept {
  const auto found = topics_.find(name);
  if (found == topics_.end() || index < 0 ||
      static_cast<std::size_t>(index) >= found->second.partitions.size())
    return nullptr;
  return &found->second.partitions[static_cast<std::size_t>(index)];
}

std::vector<std::int32_t> cluster_state::spread_replicas(std::int16_t replication) {
  const auto count = replication > 0 ? static_cast<std::size_t>(replication)
                                     : std::min<std::size_t>(3, brokers_.size());
  std::vector<std::int32_t> replicas;
  for (std::size_t i = 0; i < count; ++i)
    replicas.push_back(brokers_[(next_leader_ + i) % brokers_.size()].id);
  next_leader_ = (next_leader_ + 1) % brokers_.size();
  return replicas;
}

broker_errc cluster_state::create_topic(std::string_view name, const topic_options& options) {
  if (!valid_topic_name(name)) return broker_errc::invalid_topic_exception;
  if (topic(name) != nullptr) return broker_errc::topic_already_exists;
  const auto count = options.replicas.empty() ? options.partitions
                                              : static_cast<std::int32_t>(options.replicas.size());
  if (count < 1 || count > partitions_max) return broker_errc::invalid_partitions;
  if (options.replication == 0 || options.replication < -1 ||
      options.replication > options_.brokers)
    return broker_errc::invalid_replication_factor;

  topic_state made;
  made.name = std::string{name};
  made.values = options.settings;
  if (!refresh_settings(made)) return broker_errc::invalid_config;
  for (const auto& replicas : options.replicas)
    if (!valid_replicas(replicas)) return broker_errc::invalid_replica_assignment;
  while (!made.id.known()) made.id = {draws_.next(), draws_.next()};
  for (std::int32_t i = 0; i < count; ++i)
    made.partitions.emplace_back(i, options.replicas.empty()
                                        ? spread_replicas(options.replication)
                                        : options.replicas[static_cast<std::size_t>(i)]);
  for (auto& partition : made.partitions)
    for (const auto& broker : brokers_) {
      if (!broker.running) partition.set_running(broker.id, false);
      if (broker.isolated) partition.make_zombie(broker.id);
      if (broker.paused) partition.set_fetching(broker.id, false);
    }
  names_[made.id] = made.name;
  topics_.emplace(made.name, std::move(made));
  return broker_errc::none;
}

broker_errc cluster_state::delete_topic(std::string_view name) {
  const auto found = topics_.find(name);
  if (found == topics_.end()) return broker_errc::unknown_topic_or_partition;
  names_.erase(found->second.id);
  topics_.erase(found);
  std::erase_if(held_, [&](const auto& held) { return held.first == name; });
  std::erase_if(kept_out_, [&](const auto& kept) { return kept.first.first == name; });
  return broker_errc::none;
}

broker_errc cluster_state::alter_topic(std::string_view name, std::string_view setting,
                                       std::optional<std::string_view> value) {
  auto* found = topic(name);
  if (found == nullptr) return broker_errc::unknown_topic_or_partition;
  auto before = found->values;
  if (value) {
    found->values[std::string{setting}] = std::string{*value};
  } else {
    found->values.erase(std::string{setting});
  }
  if (refresh_settings(*found)) return broker_errc::none;
  found->values = std::move(before);
  return broker_errc::invalid_config;
}

// Settings of the topic over those of the brokers over Kafka's defaults.
bool cluster_state::refresh_settings(topic_state& topic) const {
  auto settings = default_settings(options_.version);
  for (const auto& [name, value] : broker_values_) {
    const std::string own = name == "message.max.bytes" ? "max.message.bytes" : name;
    // Brokers have settings that no topic has.
    if (read_setting(own, value, settings) == setting_read::wrong_value) return false;
  }
  for (const auto& [name, value] : topic.values)
    if (read_setting(name, value, settings) != setting_read::taken) return false;
  topic.settings = settings;
  return true;
}

broker_errc cluster_state::alter_brokers(std::string_view setting,
                                         std::optional<std::string_view> value) {
  if (setting == "producer.id.expiration.ms") {
    producer_expiration_ = options_.producer_expiration;
    if (!value) return broker_errc::none;
    std::int64_t limit = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), limit);
    if (error != std::errc{} || end != value->data() + value->size() || limit < 1)
      return broker_errc::invalid_config;
    producer_expiration_ = std::chrono::milliseconds{limit};
    return broker_errc::none;
  }
  const auto before = broker_values_;
  if (value) {
    broker_values_[std::string{setting}] = std::string{*value};
  } else {
    broker_values_.erase(std::string{setting});
  }
  for (auto& [name, topic] : topics_)
    if (!refresh_settings(topic)) {
      broker_values_ = before;
      return broker_errc::invalid_config;
    }
  return broker_errc::none;
}

broker_errc cluster_state::add_partitions(std::string_view name, std::int32_t total) {
  auto* found = topic(name);
  if (found == nullptr) return broker_errc::unknown_topic_or_partition;
  const auto have = static_cast<std::int32_t>(found->partitions.size());
  if (total <= have || total > partitions_max) return broker_errc::invalid_partitions;
  for (auto i = have; i < total; ++i)
    found->partitions.emplace_back(
        i, spread_replicas(static_cast<std::int16_t>(found->partitions.front().replicas().size())));
  return broker_errc::none;
}

bool cluster_state::valid_replicas(const std::vector<std::int32_t>& replicas) noexcept {
  return !replicas.empty() && std::all_of(replicas.begin(), replicas.end(), [&](std::int32_t id) {
    return broker(id) != nullptr && std::count(replicas.begin(), replicas.end(), id) == 1;
  });
}

broker_errc cluster_state::assign(std::string_view name, std::int32_t index,
                                  const std::vector<std::int32_t>& replicas) {
  auto* found = topic(name);
  auto* partition = found == nullptr ? nullptr : found->partition(index);
  if (partition == nullptr) return broker_errc::unknown_topic_or_partition;
  if (!valid_replicas(replicas)) return broker_errc::invalid_replica_assignment;
  for (const auto id : replicas) partition->add_replica(id);
  for (const auto& one : brokers_) partition->set_running(one.id, one.running);
  refresh_fetching(*found, *partition);
  partition->replicate(found->settings);
  partition->set_replicas(replicas);
  partition->replicate(found->settings);
  return broker_errc::none;
}

std::int64_t cluster_state::take_producer_id(std::int32_t id) {
  auto* asked = broker(id);
  PARTITA_EXPECTS(asked != nullptr, id);
  if (asked->next_producer_id > asked->last_of_block) {
    asked->next_producer_id = next_block_;
    asked->last_of_block = next_block_ + producer_block - 1;
    next_block_ += producer_block;
  }
  return asked->next_producer_id++;
}

}  // namespace partita::testing
