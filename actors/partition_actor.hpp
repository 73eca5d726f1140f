// The body of a partition's actor: takes its commands in order, lets the core decide, and carries
// out what it decides. Decides nothing itself.
//
// Invariants
// 1. The core is entered from the partition's turn, and from the leader's turn when it takes the
// next
//    batch: both run on this partition's lane, never nested.
// 2. Bytes of the budget are given back once a turn, after the turn's callbacks.
// 3. It changes its lane only while no attempt is outstanding and it waits in no outbox.
//
// Threads: its lane's; `push` of commands from any thread through its handle.
#pragma once

#include "actors/actor_cell.hpp"
#include "actors/cluster_services.hpp"
#include "actors/completion.hpp"
#include "actors/control_command.hpp"
#include "actors/log_inquiry.hpp"
#include "actors/outbox.hpp"
#include "actors/partition_core.hpp"
#include "actors/producer_shared.hpp"
#include "actors/record_node.hpp"
#include "actors/tracked_record.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partita::actors {

class broker_actor;
class partition_actor;

inline constexpr command_kind leader_command_kind{64};
inline constexpr command_kind producer_id_command_kind{65};
inline constexpr command_kind partition_task_kind{66};
inline constexpr command_kind log_command_kind{69};

/// From the metadata actor. Null leader: there is none now.
struct leader_command : command {
  broker_actor* leader = nullptr;
  broker_id id;
  leader_epoch epoch;
  std::error_code why;            ///< there is none
  topic_id topic_identity;        ///< another one than before: the topic was recreated
  std::uint32_t incarnation = 0;  ///< the same for topics without ids
};

/// From the id source: an id, or why there is none.
struct producer_id_command : command {
  producer_id id;
  producer_epoch epoch;
  std::error_code error;
  bool for_now = false;  ///< the error may pass, and the id may still come
};

/// What a look into the log came to.
struct log_command : command {
  log_findings findings;
};

/// Anything else, in the order of the queue. Exactly one of run() and refuse() is called; each
/// deletes it.
struct partition_task : command {
  partition_task() { kind = partition_task_kind; }
  virtual ~partition_task() = default;
  virtual void run(partition_actor& at) = 0;
  virtual void refuse() noexcept = 0;
};

/// How far an attempt came; kept in the flags of a batch on its way back.
enum class batch_return : std::uint16_t { answered, not_sent, lost, never_answered };

class partition_actor final : public actor_body, public outbox_node, private partition_effects {
 public:
  partition_actor(std::string topic, topic_id topic_identity, partition_id index,
                  const partition_settings& settings, producer_shared& shared,
                  cluster_services& cluster);
  ~partition_actor() override;

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] topic_id topic_identity() const noexcept { return topic_identity_; }
  [[nodiscard]] partition_id index() const noexcept { return index_; }
  [[nodiscard]] ordered_actor_handle handle() const noexcept {
    return ordered_actor_handle(*self());
  }
  /// Bytes accepted and not answered, for the partitioner and the shares of the memory. Any thread.
  [[nodiscard]] std::uint64_t queued_bytes() const noexcept {
    return queued_bytes_.load(std::memory_order_relaxed) +
           coming_bytes_.load(std::memory_order_relaxed);
  }
  /// Where partitions have shares: a record is going to be pushed here. Without it a burst between
  /// two turns would not be seen. Any thread.
  void expect_bytes(std::uint64_t bytes) noexcept {
    coming_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// Its leader refused the last attempt, or gives no answers, or there is none. Any thread.
  [[nodiscard]] bool unled(instant now) const noexcept {
    constexpr duration patience = std::chrono::seconds(1);
    return refused_.load(std::memory_order_relaxed) || !can_be_sent_to(now, patience);
  }
  /// It has a leader, and one that was not stuck for longer than `patience` (zero: whatever it is).
  /// Any thread.
  [[nodiscard]] bool can_be_sent_to(instant now, duration patience) const noexcept;

  /// Takes a record from its producer, or leaves it with him (false: this has ended). Any thread.
  [[nodiscard]] bool push(record_node& node) noexcept;

  // For the leader's turn.
  [[nodiscard]] std::size_t next_bytes(instant now) const { return core_.next_bytes(now); }
  void end_linger() noexcept { core_.end_linger(); }
  /// Records that lie in its queue go into their batch before it is sent. Whether there were any: a
  /// turn is due to them, if next_to_send() is not to follow.
  bool read_unread() noexcept { return self()->read_unread(command_kind::record); }
  /// The next record is to be seen at once. Outside its turn.
  void end_doze() noexcept;
  void ask_for_turn() noexcept;
  /// after_sending() must follow in the same turn: what can wait for the frame does.
  batch* next_to_send(std::uint64_t connection, instant now, bool knows_zstd);
  void after_sending();
  /// What keeps the leader's connection from sending, until something is sent.
  void obstructed(std::error_code why) noexcept { core_.obstructed(why); }
  /// Returns a batch that was taken: into the queue, in order with everything else.
  void give_back(batch& sent, batch_return how) noexcept;

  // For tasks, inside the turn.
  void close(close_command* command) { core_.close(command); }
  void key_failed(const std::string& key, std::error_code code) { core_.key_failed(key, code); }
  [[nodiscard]] partition_status status() const;

  // actor_body
  void on_command(command& what) override;
  void on_turn_end() override;
  [[nodiscard]] std::int64_t patience() noexcept override;
  void on_refused(command& what) noexcept override;
  void on_stopped() noexcept override;

 private:
  struct pending_flush;
  struct pending_recovery;
  struct pending_settlement;

  // partition_effects
  void complete_delivered(batch& done) override;
  void complete_failed(batch& done, const failure_facts& facts) override;
  void complete_refused(const record_node& node, const failure_facts& facts) override;
  void complete_early(batch& sent, std::span<const completion_entry> told,
                      const failure_facts& facts) override;
  void buffered(const record_node& node, std::uint64_t ordinal) override;
  void barrier_done(flush_barrier& barrier) override;
  void recovered(recover_command& command) override;
  [[nodiscard]] failed describe_failure(const batch& done, std::size_t index) const override;
  void release_budget(std::size_t bytes) override { freed_bytes_ += bytes; }
  batch* new_batch() override { return shared_.batches.take(this); }
  void free_batch(batch* finished) override { shared_.batches.give_back(finished); }
  void ready(std::size_t bytes) override;
  void lingers() override;
  void linger_is_over() override;
  [[nodiscard]] bool is_alone() const override { return shared_.room.taken() == held_bytes_; }
  [[nodiscard]] bool withdraw(batch& queued) override;
  void arm_timer(std::optional<instant> at) override;
  void ask_producer_id() override;
  void refresh_metadata() override { cluster_.refresh_metadata(); }
  [[nodiscard]] failure_verdict judge_failure(const failure_case& what) override;
  void verdict_was_impossible() override;
  void halted(std::error_code cause, const std::vector<std::string>& keys) override;
  void contradicted() override;
  void look_into_log(const log_question& question) override;
  // settlement_book::listener
  void settled(settle_command& command, const ticket_answer& answer) override;
  void batch_settled(const unknown_batch& batch) override;
  void tickets_forgotten(std::uint64_t first) override { shared_.tickets.forget(first); }
  [[nodiscard]] std::chrono::milliseconds wall_clock() const override;
  [[nodiscard]] double draw() override;

  void take_record(record_node& node);
  void take_batch(batch& back);
  void take_control(control_command& asked);
  void refuse(std::unique_ptr<control_command> asked) noexcept;
  void take_cancel(tracked_record& who);
  void cancel_unsent();
  void cancel_sent();
  void forget_answered_cancels() noexcept;
  void take_subscription(control_command& asked);
  void take_leader(const leader_command& news);
  void note_refusal(const batch& back) noexcept;
  void take_produced(control_command& asked);
  void take_settle(std::unique_ptr<control_command> asked);
  void take_findings(log_findings findings);
  void stop_inquiry() noexcept;
  [[nodiscard]] std::uint64_t give_tickets(const batch& unknown);
  void adopt_leader();
  void move_to(lane& other);
  void leave_outbox();
  [[nodiscard]] bool reaches_leader() const noexcept;
  void settle();
  void give_back_room() noexcept;
  void tell(partition_change change, std::error_code code, std::vector<std::string> keys = {});
  [[nodiscard]] failed make_failed(const failure_facts& facts, ticket first,
                                   record_number number) const;
  [[nodiscard]] lane& home() const noexcept { return self()->home(); }
  [[nodiscard]] instant now() const noexcept { return home().now(); }
  [[nodiscard]] instant came(const record_node& node) const noexcept;
  static void queue_timer(timer_node& node) noexcept;

  const std::string topic_;
  topic_id topic_identity_;
  std::uint32_t incarnation_ = 0;
  const partition_id index_;
  producer_shared& shared_;
  cluster_services& cluster_;

  const bool numbered_;
  partition_core core_;
  completion_observer observer_;
  std::optional<tally> answered_before_end_;  // once commands are refused
  record_releaser releaser_;
  std::size_t freed_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  bool asked_before_ = false;  // for a producer id

  broker_actor* leader_ = nullptr;             // whose outbox this partition uses
  broker_actor* sends_ = nullptr;              // whose connection has what is outstanding
  std::unique_ptr<log_inquiry> inquiry_;       // at that leader
  std::optional<leader_command> next_leader_;  // to be adopted when nothing is outstanding
  lane* moving_to_ = nullptr;                  // at the end of this turn

  std::vector<tracked_record*> cancels_;  // each holds a reference
  bool new_cancels_ = false;

  timer_node timer_;
  command timer_command_;
  bool timer_queued_ = false;
  bool dozes_ = false;  // as far as this lane knows
  timer_node doze_timer_;
  std::optional<instant> last_turn_end_;  // what came later lay unread

  std::vector<std::shared_ptr<partition_event_sink>> subscribers_;
  std::atomic<std::uint64_t> queued_bytes_{0};        // as of the last turn's end
  std::atomic<std::uint64_t> coming_bytes_{0};        // of those that were expected since
  std::size_t measured_bytes_ = 0;                    // held at the last turn's end
  std::atomic<bool> refused_{false};                  // by the present leader, the last attempt
  std::atomic<const broker_actor*> led_by_{nullptr};  // brokers' actors outlive partitions' use
};

}  // namespace partita::actors
