// What all brokers of the simulated cluster agree on: brokers, topics, settings, producer ids.
//
// Invariants
// 1. A topic that is deleted and created again has another id, and leader epoch 0 again.
// 2. Producer ids come from blocks of 1000, one block per broker at a time; none is handed out
// twice.
// 3. Topics are kept in the order of their names: no answer depends on an address or a hash.
//
// Threads: pure, one owner; time is an argument.
#pragma once

#include "api/testing/partition_model.hpp"
#include "api/testing/topic_settings.hpp"
#include "api/testing/transactions.hpp"
#include "wire/api_key.hpp"

#include <partita/testing/cluster.hpp>
#include <partita/testing/virtual_time.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::testing {

/// Now, by both clocks: the steady one for waiting, the wall clock for timestamps.
struct moment {
  std::int64_t steady_ns = 0;
  std::int64_t wall_ms = 0;
};

struct broker_state {
  std::int32_t id = -1;
  bool running = true;
  bool paused = false;
  bool fenced = false;    ///< paused for so long that the others go on without it
  bool isolated = false;  ///< a zombie: out of touch with the other brokers
  std::int64_t paused_since_ns = 0;
  std::string host;
  std::int32_t port = -1;
  std::int64_t next_producer_id = 0;
  std::int64_t last_of_block = -1;  ///< below next_producer_id: a new block is needed
};

struct topic_state {
  std::string name;
  partita::topic_id id;
  bool internal = false;
  std::map<std::string, std::string> values;  ///< as given
  topic_settings settings;                    ///< as understood
  std::vector<partition_model> partitions;

  [[nodiscard]] partition_model* partition(std::int32_t index) noexcept;
};

/// Kafka's rule: 1 to 249 of [a-zA-Z0-9._-], not "." or "..".
bool valid_topic_name(std::string_view name) noexcept;

class cluster_state {
 public:
  explicit cluster_state(const cluster_options& options);
  cluster_state(const cluster_state&) = delete;
  cluster_state& operator=(const cluster_state&) = delete;

  [[nodiscard]] const cluster_options& options() const noexcept { return options_; }
  [[nodiscard]] std::vector<broker_state>& brokers() noexcept { return brokers_; }
  [[nodiscard]] const std::vector<broker_state>& brokers() const noexcept { return brokers_; }
  [[nodiscard]] broker_state* broker(std::int32_t id) noexcept;
  /// Whether these are brokers, each named once.
  [[nodiscard]] bool valid_replicas(const std::vector<std::int32_t>& replicas) noexcept;
  /// The first broker that serves; -1 if none does.
  [[nodiscard]] std::int32_t controller() const noexcept;
  [[nodiscard]] seeded_draws& draws() noexcept { return draws_; }

  [[nodiscard]] std::map<std::string, topic_state, std::less<>>& topics() noexcept {
    return topics_;
  }
  [[nodiscard]] const std::map<std::string, topic_state, std::less<>>& topics() const noexcept {
    return topics_;
  }
  [[nodiscard]] topic_state* topic(std::string_view name) noexcept;
  [[nodiscard]] topic_state* topic(partita::topic_id id) noexcept;
  [[nodiscard]] const partition_model* partition(std::string_view name,
                                                 std::int32_t index) const noexcept;

  broker_errc create_topic(std::string_view name, const topic_options& options);
  broker_errc delete_topic(std::string_view name);
  broker_errc alter_topic(std::string_view name, std::string_view setting,
                          std::optional<std::string_view> value);
  broker_errc add_partitions(std::string_view name, std::int32_t total);

  /// Another list of replicas: the first one is preferred, the leader stays if it is among them.
  broker_errc assign(std::string_view name, std::int32_t index,
                     const std::vector<std::int32_t>& replicas);
  /// Dynamic settings of all brokers: producer.id.expiration.ms, and defaults of topic settings.
  broker_errc alter_brokers(std::string_view setting, std::optional<std::string_view> value);

  std::int64_t take_producer_id(std::int32_t broker);
  [[nodiscard]] transaction_coordinator& transactions() noexcept { return transactions_; }

  // What clients are told and may do (cluster_rules.cpp).
  void deny(right what, std::string_view topic) { denied_.insert({what, std::string{topic}}); }
  void allow(right what, std::string_view topic) { denied_.erase({what, std::string{topic}}); }
  [[nodiscard]] bool denied(right what, std::string_view topic) const;
  void offer(std::int16_t key, wire::version_range range) { offered_[key] = range; }
  [[nodiscard]] bool serves(std::int16_t key, std::int16_t version) const;
  /// What ApiVersions says.
  [[nodiscard]] std::vector<std::pair<std::int16_t, wire::version_range>> offered() const;
  void answer_next_id(std::int64_t id, std::int16_t epoch) { next_ids_.emplace_back(id, epoch); }
  /// The scripted answer to InitProducerId, if one is left.
  std::optional<std::pair<std::int64_t, std::int16_t>> take_scripted_id();

  // What becomes of replicas (cluster_replicas.cpp).
  void limit_in_sync(std::string_view topic, std::int32_t partition, int count);
  void isolate_broker(std::int32_t id);
  void rejoin_broker(std::int32_t id);
  /// What an isolated broker still takes for the leader and its epoch; nothing if it knows better.
  [[nodiscard]] std::optional<std::pair<std::int32_t, std::int32_t>> believed_leader(
      std::int32_t broker, std::string_view topic, std::int32_t partition) const;

  void stop_broker(std::int32_t id);
  void start_broker(std::int32_t id);
  void pause_broker(std::int32_t id, moment now);
  void resume_broker(std::int32_t id);

  /// Replication of all partitions; after whatever may have moved one.
  void replicate();
  /// What happens by time alone: paused brokers are fenced, producers expire. Called before a
  /// request is looked at and when the deadline passed. True when leaders or in-sync sets changed.
  bool pass_time(moment now);
  /// When pass_time() next has something that others wait for; -1: never.
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;
  void hold_replication(std::string_view topic, std::int32_t partition, bool held);

 private:
  std::vector<std::int32_t> spread_replicas(std::int16_t replication);
  [[nodiscard]] bool may_fetch(std::int32_t broker, std::string_view topic,
                               std::int32_t partition) const;
  void refresh_fetching(topic_state& topic, partition_model& partition) const;
  void elect_uncleanly(topic_state& topic, partition_model& partition) const;
  bool fence_paused(moment now);
  [[nodiscard]] bool refresh_settings(topic_state& topic) const;

  cluster_options options_;
  seeded_draws draws_;
  std::vector<broker_state> brokers_;
  std::map<std::string, topic_state, std::less<>> topics_;
  std::map<partita::topic_id, std::string> names_;
  std::int64_t next_block_;
  std::size_t next_leader_ = 0;
  std::int64_t expiry_tick_ = -1;
  using place = std::pair<std::string, std::int32_t>;
  std::set<place> held_;
  std::map<place, std::set<std::int32_t>> kept_out_;  // of the in-sync replicas
  std::map<std::int32_t, std::map<place, std::pair<std::int32_t, std::int32_t>>> beliefs_;
  std::set<std::pair<right, std::string>> denied_;
  std::map<std::int16_t, wire::version_range> offered_;
  std::deque<std::pair<std::int64_t, std::int16_t>> next_ids_;
  std::map<std::string, std::string> broker_values_;
  std::chrono::milliseconds producer_expiration_;
  transaction_coordinator transactions_{*this};
};

}  // namespace partita::testing
