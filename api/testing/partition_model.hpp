// One partition: its replicas, who leads, who is in sync, and what its leader answers to a batch.
//
// Invariants
// 1. The high watermark is the least log end of the in-sync replicas; it never goes back while the
// leader
//    stays, and does not move while fewer than min.insync.replicas are in sync (KAFKA-15583,
//    since 3.7).
// 2. A batch is checked by its leader only; followers store what the leader has.
// 3. The leader epoch rises with every change of the leader.
// 4. The last in-sync replica never leaves the in-sync set.
// 5. What a zombie appends is in its own log only, and never committed.
//
// Threads: pure, one owner; time is an argument.
#pragma once

#include "api/testing/batch_rules.hpp"
#include "api/testing/partition_log.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace partita::testing {

/// What one partition of a produce request is answered with.
struct produce_result {
  broker_errc code = broker_errc::none;
  std::int64_t base_offset = -1;
  std::int64_t log_append_ms = -1;
  std::int64_t log_start = -1;
  std::vector<record_fault> record_faults{};
  std::optional<std::string> message{};
  bool deduplicated = false;
  /// The high watermark at which the append is committed; -1 when nothing was appended or found.
  std::int64_t committed_at = -1;

  static produce_result refused(broker_errc code) { return {.code = code}; }
};

struct append_request {
  byte_view batch;
  std::int16_t acks = -1;
  std::int64_t now_ms = 0;
  emulation version = emulation::kafka_4_4;
  std::int32_t broker = -1;    ///< who was asked; -1: the leader
  bool server_driven = false;  ///< transactions by KIP-890, Produce 12 and later
};

struct replica {
  std::int32_t broker = -1;
  bool running = true;
  bool fetching = true;  ///< false: paused, or replication is held; of a leader: serves no follower
  partition_log log;
};

/// How an acks=all append stands.
enum class commit_state : std::uint8_t { waiting, committed, under_replicated, lost_leadership };

class partition_model {
 public:
  /// The first replica leads.
  partition_model(std::int32_t index, const std::vector<std::int32_t>& brokers);

  [[nodiscard]] std::int32_t index() const noexcept { return index_; }
  [[nodiscard]] std::int32_t leader() const noexcept { return leader_; }  ///< -1: none
  [[nodiscard]] std::int32_t leader_epoch() const noexcept { return leader_epoch_; }
  /// Whether the broker takes batches: as the leader, or as a zombie that does not know better.
  [[nodiscard]] bool leads(std::int32_t broker) const noexcept;
  /// The epoch that the broker believes in.
  [[nodiscard]] std::int32_t leader_epoch(std::int32_t broker) const noexcept;
  [[nodiscard]] std::int64_t high_watermark() const noexcept { return high_watermark_; }
  [[nodiscard]] const std::vector<replica>& replicas() const noexcept { return replicas_; }
  [[nodiscard]] const std::vector<std::int32_t>& in_sync() const noexcept { return in_sync_; }
  [[nodiscard]] bool in_sync(std::int32_t broker) const noexcept;
  [[nodiscard]] const replica* find(std::int32_t broker) const noexcept;
  /// The leader's log; the one of the last leader while there is none.
  [[nodiscard]] const partition_log& log() const noexcept;
  [[nodiscard]] std::int32_t min_in_sync(const topic_settings& settings) const noexcept;

  /// Checks 13 to 28. The caller has made sure that the broker asked is the leader.
  produce_result append(const append_request& request, const topic_settings& settings);
  /// Lets the followers fetch and moves the high watermark. True when it moved.
  bool replicate(const topic_settings& settings);
  [[nodiscard]] commit_state committed(std::int64_t committed_at, std::int32_t broker,
                                       std::int32_t leader_epoch,
                                       const topic_settings& settings) const noexcept;

  // Transactions.
  /// Whether this producer's transaction has a batch here, so that the next needs no verification.
  [[nodiscard]] bool in_transaction(std::int64_t producer_id, std::int16_t epoch,
                                    emulation version) const noexcept;
  /// A batch is about to be verified: no sequence above the lowest that was tried may come first.
  void begin_verification(const batch_header& header);
  void end_transaction(std::int64_t producer_id, std::int16_t epoch, bool commit,
                       std::int64_t now_ms);
  /// What readers of committed data see: the start of the first open transaction, at most the high
  /// watermark.
  [[nodiscard]] std::int64_t last_stable_offset() const noexcept;

  void set_fetching(std::int32_t broker, bool on);
  void set_running(std::int32_t broker, bool on);
  void leave_in_sync(std::int32_t broker);
  /// Gives a follower everything the leader has, whether replication is held or not.
  void catch_up(std::int32_t broker);
  /// Moves the leadership; the others drop what the new leader does not have.
  void lead(std::int32_t broker);
  /// A new, empty replica; it is in sync once it has everything.
  void add_replica(std::int32_t broker);
  /// Exactly these, all of them replicas already, the first one preferred; others are dropped.
  void set_replicas(const std::vector<std::int32_t>& brokers);
  void truncate(std::int32_t broker, std::int64_t offset);
  /// As if none of the replicas had ever had what lies from `offset` on.
  void roll_back(std::int64_t offset);
  /// The leader loses touch with the others, keeps its belief, and another one leads.
  void make_zombie(std::int32_t broker);
  void end_zombie(std::int32_t broker);
  /// All replicas remember this batch as the producer's newest one.
  void seed_producer(const batch_tuple& tuple, std::int64_t timestamp_ms);
  broker_errc delete_before(std::int64_t offset);
  /// Every in-sync replica compacts its log below `before`, as far as nothing of it can be undone.
  /// Returns what the leader's log lost.
  std::vector<log_record> clean(std::int64_t before);
  /// Drops the oldest batches below the high watermark while the log is larger.
  void retain(std::int64_t bytes_max);
  void expire_producers(std::int64_t now_ms, std::int64_t limit_ms);
  void forget_producers();

 private:
  replica* find_mutable(std::int32_t broker) noexcept;
  partition_log& leader_log() noexcept;
  static void fetch(replica& follower, const partition_log& source);
  [[nodiscard]] broker_errc check_producer(const append_request& request, const batch_tuple& tuple,
                                           bool transactional, const partition_log& log,
                                           const topic_settings& settings) const;
  produce_result store(checked_batch batch, partition_log& log, std::int32_t epoch);

  std::int32_t index_;
  std::int32_t leader_ = -1;
  std::int32_t last_leader_ = -1;
  std::int32_t leader_epoch_ = 0;
  std::int64_t high_watermark_ = 0;
  std::uint64_t last_serial_ = 0;
  std::vector<replica> replicas_;
  std::vector<std::int32_t> in_sync_;
  struct verification {
    std::int16_t epoch = -1;
    std::int32_t lowest_sequence = -1;
  };
  std::map<std::int64_t, verification> verifications_;  // by producer id
  std::map<std::int32_t, std::int32_t> zombies_;        // broker, and the epoch it believes in
};

}  // namespace partita::testing
