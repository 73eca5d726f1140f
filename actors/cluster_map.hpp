// What is known about the cluster: brokers, topics, and who leads each partition.
//
// A map is immutable. Each answer and each hint makes a new one that shares the topics it did not
// change, so a snapshot is cheap to keep and to compare.
//
// Invariants
// 1. Within one topic id a partition's leader epoch never falls: older answers and hints are
// ignored,
//    whichever broker they come from (KIP-320, KIP-951). Where topics have no ids they are believed
//    in the end, and the topic is another one: see rewind_evidence.
// 2. Another topic id is another topic: nothing of the old one survives but the name. An id that
//    was replaced does not come back: a broker that still names it lags.
// 3. Within one topic id partitions are never lost. A topic that vanishes keeps its entry, marked.
//    How many there are is learned only from an answer that names each of 0 to n-1 once.
// 4. The endpoint of every leader that is known by a newer answer than the brokers' list is kept.
//
// Threads: immutable once made; shared freely.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::actors {

struct broker_endpoint {
  broker_id id;
  std::string host;
  std::int32_t port = 0;
  std::string rack;
  friend bool operator==(const broker_endpoint&, const broker_endpoint&) = default;
};

/// What a metadata answer says about one partition.
struct partition_answer {
  partition_id index;
  broker_errc error = broker_errc::none;
  broker_id leader;
  leader_epoch epoch;  ///< none where the version has no epochs
  std::vector<broker_id> replicas;
};

struct topic_answer {
  std::string name;
  topic_id id;  ///< unknown where the version has no ids
  broker_errc error = broker_errc::none;
  std::vector<partition_answer> partitions;
};

struct metadata_answer {
  std::string cluster_id;
  broker_id controller;
  std::vector<broker_endpoint> brokers;
  std::vector<topic_answer> topics;
  bool all_topics =
      false;  ///< it answers for every topic of the cluster: what it lacks is not there
};

/// A partition whose leader, as far as it is known, refuses it or can not be reached.
struct unled_partition {
  std::string_view topic;
  partition_id partition;
};

/// How a metadata answer came, beside what it says.
struct answer_origin {
  broker_id broker;  ///< who gave it; not known: some bootstrap server
  std::span<const unled_partition> unled{};
};

/// What an answer other than metadata says about a leader (current_leader and node_endpoints).
struct leader_hint {
  std::string topic;
  topic_id id;  ///< unknown: of whichever topic has the name now
  partition_id partition;
  broker_id leader;
  leader_epoch epoch;
};

/// All that one answer hints at.
struct leader_hints {
  std::vector<leader_hint> leaders;
  std::vector<broker_endpoint> endpoints;
  [[nodiscard]] bool empty() const noexcept { return leaders.empty(); }
};

struct partition_facts {
  broker_id leader;  ///< none: there is no leader now
  leader_epoch epoch;
  broker_errc error = broker_errc::none;
  std::uint32_t replicas_begin = 0;  ///< see topic_facts::replicas
  std::uint32_t replicas_count = 0;
  friend bool operator==(const partition_facts&, const partition_facts&) = default;
};

/// Answers in a row that named an older epoch for a partition whose known leader does not serve
/// it, of a topic without an id. Either who answers lags, or the topic was made again. One broker
/// alone can not tell; several, one after the other, are believed (decision 14).
struct rewind_evidence {
  static constexpr int answers_wanted = 5;
  static constexpr std::size_t brokers_wanted = 2;  ///< or all there are
  int answers = 0;
  std::vector<broker_id> from;  ///< different ones
  friend bool operator==(const rewind_evidence&, const rewind_evidence&) = default;
};

struct topic_facts {
  std::string name;
  topic_id id;
  broker_errc error = broker_errc::none;    ///< of the last answer
  bool gone = false;                        ///< the last answer did not know the topic
  bool incomplete = false;                  ///< the last answer did not say how many partitions
  std::vector<topic_id> replaced;           ///< ids that the name had before, the newest last
  std::uint32_t incarnation = 0;            ///< how often it was made again without an id
  rewind_evidence rewind;                   ///< that it was
  std::vector<partition_facts> partitions;  ///< by index
  std::vector<broker_id> replica_ids;       ///< of all partitions, one after the other

  [[nodiscard]] const partition_facts* partition(partition_id index) const noexcept;
  [[nodiscard]] std::span<const broker_id> replicas(partition_id index) const noexcept;
  friend bool operator==(const topic_facts&, const topic_facts&) = default;
};

class cluster_map;
using cluster_snapshot = std::shared_ptr<const cluster_map>;

class cluster_map {
 public:
  /// Nothing is known.
  cluster_map() = default;

  /// `previous` brought up to date with a metadata answer.
  [[nodiscard]] static cluster_snapshot merge(const cluster_map& previous,
                                              const metadata_answer& answer,
                                              const answer_origin& origin = {});

  /// `previous` with those hints that are newer than what it knows and whose leader has a known
  /// address, in `endpoints` or before. Returns `previous` itself when there is none.
  [[nodiscard]] static cluster_snapshot apply_hints(const cluster_snapshot& previous,
                                                    std::span<const leader_hint> hints,
                                                    std::span<const broker_endpoint> endpoints);

  [[nodiscard]] const std::string& cluster_id() const noexcept { return cluster_id_; }
  [[nodiscard]] broker_id controller() const noexcept { return controller_; }
  /// Sorted by id.
  [[nodiscard]] std::span<const broker_endpoint> brokers() const noexcept { return brokers_; }
  [[nodiscard]] const broker_endpoint* broker(broker_id id) const noexcept;
  /// Null when the topic was never heard of.
  [[nodiscard]] const topic_facts* topic(std::string_view name) const noexcept;
  [[nodiscard]] const partition_facts* partition(std::string_view name,
                                                 partition_id index) const noexcept;

  using topic_pointer = std::shared_ptr<const topic_facts>;
  /// Sorted by name, none null.
  [[nodiscard]] std::span<const topic_pointer> topics() const noexcept { return topics_; }

 private:
  std::string cluster_id_;
  broker_id controller_;
  std::vector<broker_endpoint> brokers_;
  std::vector<topic_pointer> topics_;

  void put_broker(const broker_endpoint& endpoint);
  void merge_brokers(const cluster_map& previous, const metadata_answer& answer);
  void merge_topics(const cluster_map& previous, const metadata_answer& answer,
                    const answer_origin& origin);
  void keep_leader_endpoints(const cluster_map& previous);
  [[nodiscard]] std::size_t topic_position(std::string_view name) const noexcept;
};

enum class cluster_change_kind : std::uint8_t {
  topic_appeared,       ///< first heard of with partitions; stands for all changes of the topic
  topic_recreated,      ///< same name, another topic: stands for all changes of the topic
  topic_gone,           ///< not there any more, for now; partitions keep their state
  topic_returned,       ///< was gone, is back with the same id
  topic_error,          ///< the topic's error changed to `error`
  partitions_added,     ///< from `partition` on
  leader_appeared,      ///< had none
  leader_changed,       ///< another broker
  leader_epoch_raised,  ///< the same broker, elected again
  leader_vanished,      ///< has none now
  broker_appeared,
  broker_moved,  ///< another address under the same id
  broker_vanished,
};

struct cluster_change {
  cluster_change_kind kind{};
  std::string topic;       ///< empty for brokers
  partition_id partition;  ///< for leaders, and the first new one for partitions_added
  broker_id broker;        ///< the broker, or the new leader
  broker_errc error = broker_errc::none;
  friend bool operator==(const cluster_change&, const cluster_change&) = default;
};

/// What turned `before` into `after`: brokers by id, then topics by name, each with its partitions
/// in order. Topics shared by both are not looked at.
[[nodiscard]] std::vector<cluster_change> difference(const cluster_map& before,
                                                     const cluster_map& after);

}  // namespace partita::actors
