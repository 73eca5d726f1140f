// Simulated Kafka brokers: the model of a cluster, and the same model on loopback sockets.
//
// Invariants
// 1. One model serves everything: what runs in virtual time and what listens on a port execute the
//    same code, and all time, identity and randomness comes from the clock and the seed it was
//    given.
// 2. A produce request goes through the checks of a Kafka 4.4 broker in Kafka's order.
// 3. A connection executes one request at a time, in order; waiting for replication is part of
//    executing.
//
// Threads: all member functions may be called from any thread; one lock guards the model.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>
#include <partita/outcome.hpp>
#include <partita/record.hpp>
#include <partita/testing/api_fault.hpp>
#include <partita/testing/attempt.hpp>
#include <partita/testing/fault.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::testing {

class cluster_core;

/// The broker whose rules are followed where they differ.
enum class emulation : std::uint8_t {
  kafka_2_4,  ///< no state and a first sequence that is not 0: 59
  kafka_3_9,  ///< no state: any first sequence (2.5 to 4.4); transactions as before KIP-890 part 2
  kafka_4_2,
  kafka_4_4,
  kafka_4_5,  ///< a never-written partition demands 0: 45
};

struct topic_options {
  std::int32_t partitions = 1;
  std::int16_t replication = -1;  ///< -1: on every broker, at most three
  /// Kafka's topic settings by their names: max.message.bytes, message.timestamp.type,
  /// message.timestamp.before.max.ms, message.timestamp.after.max.ms, cleanup.policy,
  /// min.insync.replicas, segment.bytes, compression.type, unclean.leader.election.enable. Of the
  /// model itself: partita.dedup.window (how many batches a retry is looked for in, 5),
  /// partita.demand.sequence.zero (an unknown producer must start at 0, else 45).
  std::map<std::string, std::string> settings{};
  /// Broker ids by partition, the first one leads. Empty: spread over the brokers.
  std::vector<std::vector<std::int32_t>> replicas{};
};

struct cluster_options {
  int brokers = 3;  ///< their ids are 1, 2, 3 ...
  std::map<std::string, topic_options> topics{};
  std::uint64_t seed = 1;
  std::string cluster_id = "partita-simulated-clus";
  bool auto_create_topics = true;
  std::int32_t auto_create_partitions = 1;
  emulation version = emulation::kafka_4_4;
  /// A broker paused for this long loses its leaderships and leaves the in-sync sets.
  std::chrono::milliseconds broker_session_timeout{9'000};
  std::chrono::milliseconds producer_expiration{86'400'000};  ///< producer.id.expiration.ms
  std::chrono::milliseconds producer_expiration_check{600'000};
  /// A partition's oldest batches are dropped beyond this, as by retention.bytes.
  std::int64_t retention_bytes = std::int64_t{1} << 30;
  std::int32_t first_producer_id = 1000;  ///< the first block of 1000 ids starts here
  /// In place of "broker-1" and so on, by broker id; only in virtual time. Several may share one,
  /// as behind a port forwarder, which gives the connections to each of them in turn.
  std::map<std::int32_t, std::string> hosts{};
};

/// A record as the log holds it.
struct log_record {
  partita::offset offset{};
  partita::producer_id producer_id{};
  partita::producer_epoch producer_epoch{};
  partita::sequence sequence{};
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::vector<owned_header> headers{};
  partita::timestamp timestamp{};
};

/// A batch as the log holds it.
struct log_batch {
  partita::offset base_offset{};
  std::int32_t record_count = 0;
  partita::producer_id producer_id{};
  partita::producer_epoch producer_epoch{};
  partita::sequence base_sequence{};
  partita::leader_epoch leader_epoch{};
  std::int16_t attributes = 0;
  std::int64_t max_timestamp_ms = -1;
  std::uint32_t checksum = 0;
};

/// A producer as a partition's leader remembers it.
struct producer_view {
  partita::producer_id producer_id{};
  partita::producer_epoch producer_epoch{};
  partita::sequence last_sequence{};
  std::int64_t last_timestamp_ms = -1;
  int batches = 0;  ///< how many of the last five it could still recognise
};

/// What a partition looks like.
struct partition_view {
  broker_id leader{};  ///< not known() while there is none
  partita::leader_epoch leader_epoch{};
  std::vector<std::int32_t> replicas{};
  std::vector<std::int32_t> in_sync{};
  partita::offset log_start{};
  partita::offset high_watermark{};
  partita::offset log_end{};
};

/// What the cluster has done so far.
struct cluster_counters {
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t produce_requests = 0;
  std::uint64_t batches_appended = 0;
  std::uint64_t batches_deduplicated = 0;
  std::uint64_t batches_refused = 0;
  std::uint64_t faults_hit = 0;
};

/// How a broker ends, and how much of a partition's tail survives a move of its leader.
enum class stop_kind : std::uint8_t { clean, kill };
enum class tail : std::uint8_t {
  kept,  ///< the new leader has everything the old one had
  lost,  ///< the new leader lacks what was not yet below the high watermark
  own,   ///< the new leader has what it fetched itself: an unclean election, if it was not in sync
};

/// The control side of a simulated cluster. Made by `simulation` or as a `loopback_cluster`.
class cluster {
 public:
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;
  virtual ~cluster();

  // Topics. Errors are Kafka's codes, broker_errc::none on success.
  broker_errc create_topic(std::string_view name, const topic_options& options = {});
  broker_errc delete_topic(std::string_view name);
  broker_errc alter_topic(std::string_view name, std::string_view setting,
                          std::optional<std::string_view> value);
  broker_errc add_partitions(std::string_view name, std::int32_t total);
  broker_errc delete_records(std::string_view name, partition_id partition, partita::offset before);
  /// Compacts a partition at once, as brokers do now and then where cleanup.policy says so: below
  /// `before` (unset: the newest batch, which always stays) only the last record of a key is left,
  /// and no record without a key. What brokers know of producers stays. Returns what its leader
  /// removed, in the order of offsets; nothing while it has none.
  std::vector<log_record> compact(std::string_view topic, partition_id partition,
                                  std::optional<partita::offset> before = {});
  [[nodiscard]] std::vector<std::string> topics() const;

  // The log of the current leader; of the last one while there is none.
  [[nodiscard]] std::vector<log_record> log(std::string_view topic, partition_id partition) const;
  [[nodiscard]] std::vector<log_batch> batches(std::string_view topic,
                                               partition_id partition) const;
  [[nodiscard]] std::optional<partition_view> view(std::string_view topic,
                                                   partition_id partition) const;
  [[nodiscard]] std::vector<producer_view> producers(std::string_view topic,
                                                     partition_id partition) const;

  // Faults of produce attempts. Scripted ones are tried in the order of their injection.
  void inject(const fault& fault);
  void inject(const fault_mix& mix);
  /// Ends faults of all kinds and lies; what is held stays held.
  void clear_faults();
  /// Executes what `held` faults keep, in the order of arrival. Of one partition, or of all.
  void release_held();
  void release_held(std::string_view topic, partition_id partition);
  [[nodiscard]] std::size_t held() const;

  // The other APIs, and what brokers say of themselves and of topics.
  void inject(const api_fault& fault);
  void inject(const metadata_lie& lie);
  /// The next InitProducerId, on whatever broker, is answered with this.
  void answer_next_id(producer_id id, producer_epoch epoch);
  /// Offers and serves another range of versions; an empty one (1 to 0): the API is not there.
  void offer(api which, std::int16_t first, std::int16_t last);
  void deny(right what, std::string_view topic = {});
  void allow(right what, std::string_view topic = {});
  /// Tells the script of every attempt and asks it first; null ends that. It must outlive its use.
  void follow(attempt_script* script);

  // Brokers. A stopped broker closes its connections and its partitions move to an in-sync replica;
  // a paused one keeps them open, reads nothing, answers nothing and replicates nothing.
  void stop_broker(broker_id broker, stop_kind kind = stop_kind::clean);
  void start_broker(broker_id broker);
  void pause_broker(broker_id broker);
  void resume_broker(broker_id broker);
  /// While held, the followers of a partition stay in sync but get nothing: the high watermark
  /// stands still, acks=all waits, and what is appended now is the tail that move_leader(lost)
  /// loses.
  void hold_replication(std::string_view topic, partition_id partition, bool held);
  /// Makes `broker`, a replica that runs, the leader. False when it can not be.
  bool move_leader(std::string_view topic, partition_id partition, broker_id broker,
                   tail tail = tail::kept);
  /// Drops what the partition's replicas remember of producers.
  void forget_producers(std::string_view topic, partition_id partition);
  /// Makes all replicas remember this: as if the producer's newest batch had ended so.
  void seed_producer(std::string_view topic, partition_id partition, const producer_view& seed);
  /// The leader and `count` - 1 of its followers stay in sync, the others neither fetch nor count.
  /// At least as many as there are replicas: all take part again.
  void limit_in_sync(std::string_view topic, partition_id partition, int count);
  /// All replicas lose everything from `end` on, and what it told them of producers.
  void roll_back(std::string_view topic, partition_id partition, partita::offset end);
  /// A zombie: its partitions get other leaders at once, but it knows nothing of that. It goes on
  /// serving clients by what it knew, appends what they send, and commits nothing.
  void isolate_broker(broker_id broker);
  /// The zombie learns what happened and gives up what the others do not have.
  void rejoin_broker(broker_id broker);
  /// Ends every connection of a broker: by FIN, or by RST.
  void drop_connections(broker_id broker, bool reset = false);
  /// The broker's connections end, and it has another port from now on; its id stays. In
  /// simulations only: brokers on loopback listen where they began.
  void move_broker(broker_id broker, std::int32_t port);

  [[nodiscard]] cluster_counters counters() const;
  [[nodiscard]] int broker_count() const;

 protected:
  explicit cluster(std::unique_ptr<cluster_core> core);
  /// Called after every change that may have queued bytes or moved the next deadline.
  virtual void changed() {}
  /// The model, and the lock that guards it. For the serving side of partita::testing only.
  [[nodiscard]] cluster_core& core() const { return *core_; }

  struct guard;

 private:
  std::unique_ptr<cluster_core> core_;
};

/// A cluster on loopback ports, run by a thread of its own. For demos, users' tests, outside
/// clients. A control call returns when the ports have followed: a broker that was started listens.
class loopback_cluster final : public cluster {
 public:
  /// Starts listening before it returns. `port` is that of the first broker, the others follow; 0:
  /// any free ports. Check listening() afterwards.
  explicit loopback_cluster(const cluster_options& options = {}, std::uint16_t port = 0);
  ~loopback_cluster() override;

  /// Empty when all brokers listen, else what went wrong.
  [[nodiscard]] std::error_code listening() const;
  /// "127.0.0.1:19092,127.0.0.1:19093": what clients take as bootstrap servers.
  [[nodiscard]] std::string bootstrap() const;
  [[nodiscard]] std::uint16_t port(broker_id broker) const;

 private:
  void changed() override;
  struct server;
  std::unique_ptr<server> server_;
};

}  // namespace partita::testing
