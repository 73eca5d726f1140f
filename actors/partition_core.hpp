// What one partition decides: when its records are sealed and sent, what an answer means for them,
// when they are given up, and what passes while it is paused or halted. Commands in, effects out.
//
// Invariants
// 1. A sealed batch keeps its bytes and its (producer id, epoch, sequence) until every attempt of
// it is
//    proven unwritten; only then may it get a newer tuple (L1, L2).
// 2. Giving up a batch that was ever handed to a connection ends its epoch here: nothing is sent
// until
//    every attempt of this partition has ended, then the epoch rises and sequences restart at 0.
// 3. Doubt is counted per attempt and only success takes it away (L3).
// 4. Batches are answered in the order of their records. A younger answer waits for the older
// batch.
// 5. A halt is in force before the failed records' callbacks run, and these run before anything
// later
//    is looked at (L6).
// 6. One batch in flight until the first success on a connection and an epoch, after an idle
// minute,
//    and while a batch is retried: a broker without state takes any first sequence (KAFKA-15591,
//    L10).
// 7. Nothing is sent to a new leader while an attempt is outstanding at the old one.
// 8. Every record that was appended is answered exactly once, at its deadline at the latest. So no
// batch
//    is sent behind one with a later deadline: it would have to wait for that one's answer. Where
//    records have deadlines of their own each of them ends by itself instead.
// 9. Between recover() and the end of the last attempt no new batch is sent: what failed goes
// first.
//
// Threads: none of its own. Time is an argument; randomness is drawn through the effects. Pure.
#pragma once

#include "actors/batch.hpp"
#include "actors/batch_queue.hpp"
#include "actors/instant.hpp"
#include "actors/partition_commands.hpp"
#include "actors/partition_effects.hpp"
#include "actors/partition_settings.hpp"
#include "actors/producer_stamp.hpp"
#include "actors/tuple_ledger.hpp"

#include <partita/status.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partita::actors {

class partition_core {
 public:
  partition_core(const partition_settings& settings, partition_effects& effects);
  ~partition_core();
  partition_core(const partition_core&) = delete;
  partition_core& operator=(const partition_core&) = delete;

  // Commands, in the partition's order.

  /// Buffers a record, or answers it at once when it may not be buffered. The node can be freed
  /// after.
  void append(const record_node& node, instant now);
  /// A leader or a leader epoch other than before ends the backoff of the batch that waits.
  void set_leader(broker_id leader, leader_epoch epoch, instant now);
  /// Why nothing can be sent at the moment: the cause of what expires meanwhile (LIE-04).
  void obstructed(std::error_code why) noexcept { obstacle_ = why; }
  /// The topic was deleted and made again: its log begins anew, the numbering goes on (L10 e).
  /// Without anything open nobody need care. What is open was meant for the log that is gone: it
  /// fails, and the partition halts until the application says how to go on.
  void new_incarnation(instant now);
  void producer_id_arrived(producer_id id, producer_epoch epoch, instant now);
  /// The cluster refuses to hand out ids: everything that was never sent fails with that code.
  void producer_id_refused(std::error_code code, instant now);
  void pause(pause_mode mode, instant now);
  void resume(instant now);
  /// Ends those that were never sent, or are proven unwritten and wait for their turn. What it does
  /// not find stays in `asked`.
  void cancel_unsent(std::vector<cancel_request>& asked);
  /// Ends those whose batch was sent and has no answer that is on its way; the batch goes on. At
  /// the end of a turn, so that an answer of the same turn wins.
  void cancel_sent(std::vector<cancel_request>& asked);
  /// From here on new records are accepted behind it. What failed or was held is dealt with when
  /// every attempt has ended; then recovered() is called. `resubmitted` answers come later. A
  /// partition that was halted once more in the meantime can be told again: recoveries are carried
  /// out in order.
  void recover(recover_command& command, instant now);
  /// Done at once when nothing is unanswered (returns true), else through barrier_done().
  bool flush(flush_barrier& barrier, instant now);
  /// Ends everything: what was never sent is not written, what may be written is unknown. Appends
  /// are refused afterwards. Null: the unsent records are not wanted.
  void close(close_command* command);

  // The leader's connection.

  /// The next batch to hand to the connection, sealed and in flight; null when nothing may be sent
  /// now. `connection` tells connections apart: the first success must come on the one in use.
  batch* next_to_send(std::uint64_t connection, instant now);
  /// What next_to_send() would hand out, about, in bytes; 0 when nothing may be sent.
  [[nodiscard]] std::size_t next_bytes(instant now) const;
  /// acks=0: the whole frame was handed over, and no answer will come.
  void never_answered(batch& sent, instant now);
  void answered(batch& sent, const attempt_answer& answer, instant now);
  /// The attempt ended without an answer. `handed_over`: the whole frame was, so the broker may
  /// have it.
  void attempt_lost(batch& sent, bool handed_over, std::error_code cause, instant now);

  void timer_fired(instant now);
  /// After each run of commands: tells whether something can be sent, and arms the timer.
  void settle(instant now);

  void describe(partition_status& status) const;
  [[nodiscard]] std::uint64_t unanswered() const noexcept { return unanswered_; }
  [[nodiscard]] int outstanding() const noexcept { return outstanding_; }
  [[nodiscard]] bool is_closed() const noexcept { return gate_ == gate::closed; }

 private:
  /// What the application lets pass.
  enum class gate : std::uint8_t { open, halted, closed };
  /// Whether sequences can be given out.
  enum class numbering : std::uint8_t { none_needed, absent, asked, usable, fencing };

  /// A recovery that waits until every attempt has ended.
  struct waiting_recovery {
    recover_command* command;
    std::uint64_t held_from;  // what was produced from here ...
    std::uint64_t held_to;    // ... to here was held back; failures before held_to are collected
  };

  [[nodiscard]] bool may_send(instant now) const;
  [[nodiscard]] bool passes_gate(const batch& candidate) const noexcept;
  [[nodiscard]] bool open_batch_is_due(instant now) const;
  [[nodiscard]] bool back_dated(const batch& candidate) const;
  [[nodiscard]] int window(instant now) const noexcept;
  [[nodiscard]] batch* first_awaiting_retry() const noexcept;
  [[nodiscard]] bool write_is_sound(batch& next, instant now);
  [[nodiscard]] std::optional<instant> next_event(instant now) const;
  [[nodiscard]] partition_state state() const noexcept;

  void refuse(const record_node& node, const failure_facts& facts);
  void attempt_over(batch& sent, attempt_verdict verdict);
  void release_if_orphaned(batch& sent);
  void accept(batch& sent, const attempt_note& note, instant now);
  void decide(batch& sent, const attempt_note& note, instant now);
  void finish_heads(instant now);
  void complete_delivered(batch& done);
  void answer_failed(batch& done, const failure_facts& facts);
  void count_answers(const batch& done, tally_kind kind);
  void dispose(batch* finished);
  void lose_footing() noexcept;
  void finish_barriers();

  void give_up(batch& head, const failure_facts& facts);
  void fail(batch& victim, const failure_facts& facts);
  [[nodiscard]] static fate fate_of(const batch& sent) noexcept;
  [[nodiscard]] failure_facts facts_of_hopeless(const batch& head, instant now) const;
  void apply_policy(std::uint64_t ordinal, const failure_facts& facts);
  void halt(std::uint64_t ordinal, std::error_code cause);
  void separate_at(std::uint64_t ordinal);
  void expire_unsent(instant now);
  [[nodiscard]] bool expire_front(instant now);
  [[nodiscard]] std::error_code cause_of(const batch& late) const noexcept;
  void note_held_expiry() noexcept;

  batch& take_out(batch& from, const std::vector<std::size_t>& positions);
  void answer_early(batch& sent, const std::vector<std::size_t>& positions,
                    const failure_facts& facts);
  void tell_delivered(batch& done);
  bool drop_answered(batch& kept);
  void drop_answered_failures();
  void note_deadline(bool own, instant deadline) noexcept;
  void find_early_expiry() noexcept;
  void expire_early(instant now);

  [[nodiscard]] std::size_t batch_bytes_now(instant now) const noexcept;
  void cut_to_fit(instant now);
  void free_for_cutting(batch& refused);
  void note_single_too_large(const batch& refused, instant now) noexcept;
  [[nodiscard]] std::string detail_of(const batch& refused) const;
  [[nodiscard]] bool is_blamed_in_part(const batch& refused, instant now) const noexcept;
  void fail_blamed(batch& refused);

  void start_fencing() noexcept;
  void bump_when_drained(instant now);
  void unseal_survivors(instant now);
  [[nodiscard]] bool was_replaced(const batch& candidate) const noexcept;
  void fail_replaced();
  void ask_for_producer_id();
  [[nodiscard]] static batch_tuple tuple_of(const batch& sent) noexcept;

  [[nodiscard]] bool will_be_recovered(std::uint64_t ordinal) const noexcept;
  void carry_out_recoveries(instant now);
  void discard_failed(const waiting_recovery& asked);
  void take_all(const waiting_recovery& asked);
  std::uint64_t resubmit_failed(const waiting_recovery& asked, instant now);

  partition_settings settings_;
  partition_effects& effects_;

  broker_id leader_;
  leader_epoch leader_epoch_;
  std::uint64_t connection_ = 0;  // the one last sent on
  bool established_ = false;      // an attempt that began on the present footing succeeded
  std::uint32_t footing_ = 0;     // another one with each connection, leader, epoch and incarnation
  instant last_success_{};

  numbering numbering_;
  producer_stamp stamp_;
  tuple_ledger ledger_;

  gate gate_ = gate::open;
  bool paused_ = false;  // by the application; outlives a halt
  std::uint64_t halt_ordinal_ =
      0;  // while halted: only what was produced before this record passes
  std::error_code halt_cause_;

  batch_queue open_;               // never sent, or proven unwritten: no tuple of theirs is in use
  batch_queue unfinished_;         // sealed under the current epoch, oldest first
  batch_queue failed_;             // answered, kept for recover()
  int outstanding_ = 0;            // attempts that have not ended, of given-up batches too
  bool new_batch_wanted_ = false;  // the next record must not share a batch with those before it
  bool new_id_wanted_ = false;     // bumping did not help: somebody else uses the id

  std::vector<waiting_recovery> recoveries_;  // oldest first

  std::uint64_t replaced_before_ = 0;  ///< older records were meant for a deleted topic
  std::uint64_t next_ordinal_ = 0;
  instant newest_deadline_{};  // deadlines rise with the ordinals, resubmitted records excepted
  std::optional<instant>
      held_expiry_;             // the earliest deadline behind a resubmitted batch's later one
  bool own_deadlines_ = false;  // some record has a deadline of its own
  std::optional<instant> early_expiry_;  // then: the first of all deadlines
  std::uint64_t unanswered_ = 0;
  std::uint64_t flush_ordinal_ = 0;  // lingering ends early for what was produced before this
  std::vector<flush_barrier*> barriers_;

  std::uint32_t epoch_bumps_ = 0;
  offset last_offset_;
  tally answered_;
  std::error_code last_error_;
  std::error_code obstacle_;  // until the next attempt
};

}  // namespace partita::actors
