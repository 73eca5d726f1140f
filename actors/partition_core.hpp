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
// 3. Doubt is counted per attempt; only success takes it away (L3), or the log.
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
// 10. Of a halted key nothing is sent that lies behind the halt: its records are taken out of
// unsent
//    batches before these are numbered. For each key the batches of a queue, in the order of their
//    first records, hold the key's records in order.
// 11. The log is read before a batch in doubt is sent again where its leader may not recognise it
//    (L10 b, c); nothing newer is sent meanwhile.
//
// Threads: none of its own. Time is an argument; randomness is drawn through the effects. Pure.
#pragma once

#include "actors/batch.hpp"
#include "actors/batch_queue.hpp"
#include "actors/halted_keys.hpp"
#include "actors/instant.hpp"
#include "actors/partition_commands.hpp"
#include "actors/partition_effects.hpp"
#include "actors/partition_settings.hpp"
#include "actors/producer_stamp.hpp"
#include "actors/settlement_book.hpp"
#include "actors/tuple_ledger.hpp"

#include <partita/status.hpp>

#include <cstdint>
#include <functional>
#include <limits>
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
  /// `came`: when it began to wait for company; not after `now`.
  void append(const record_node& node, instant now, instant came);
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
  /// What is not yet on its way does not pass, of that key (or of the partition, without one),
  /// until it is recovered. False: it was halted already.
  bool halt_on_request(const std::optional<std::string>& key);
  /// A record of this key failed before it had a partition.
  void key_failed(const std::string& key, std::error_code code);
  /// Done at once when nothing is unanswered (returns true), else through barrier_done().
  bool flush(flush_barrier& barrier, instant now);
  /// Ends everything: what was never sent is not written, what may be written is unknown. Appends
  /// are refused afterwards. Null: the unsent records are not wanted.
  void close(close_command* command);

  // The leader's connection.

  /// The next batch to hand to the connection, sealed and in flight; null when nothing may be sent
  /// now. `connection` tells connections apart: the first success must come on the one in use.
  /// A batch that is sealed now is not compressed by zstd where the broker does not know it.
  batch* next_to_send(std::uint64_t connection, instant now, bool knows_zstd = true);
  /// What next_to_send() would hand out, about, in bytes; 0 when nothing may be sent.
  [[nodiscard]] std::size_t next_bytes(instant now) const;
  [[nodiscard]] bool has_open() const noexcept { return !open_.empty(); }
  struct unseen {
    std::size_t bytes = 0;         ///< may come; 0: each record must be seen at once
    std::optional<instant> until;  ///< to be called then; none: the timer is armed already
  };
  /// What may come unseen after a turn, because it would only wait for company.
  [[nodiscard]] unseen patience(instant now) const;
  /// What a record that comes unseen counts besides its tail: not less than a batch needs for it.
  static constexpr std::uint32_t unseen_record_bytes = 24;
  /// What was produced until now lingers no longer.
  void end_linger() noexcept { flush_ordinal_ = next_ordinal_; }
  /// acks=0: the whole frame was handed over, and no answer will come.
  void never_answered(batch& sent, instant now);
  void answered(batch& sent, const attempt_answer& answer, instant now);
  /// The attempt ended without an answer. `handed_over`: the whole frame was, so the broker may
  /// have it.
  void attempt_lost(batch& sent, bool handed_over, std::error_code cause, instant now);

  // Settlement of what is in doubt (partition_core_settling.cpp).

  /// What became of a record that was answered unknown. Answered through the effects, once.
  void settle_ticket(settle_command& command, instant now);
  /// What the search of the log, asked for by look_into_log(), came to.
  void looked(const log_findings& findings, instant now);

  void timer_fired(instant now);
  /// After each run of commands: tells whether something can be sent, and arms the timer.
  void settle(instant now);

  void describe(partition_status& status) const;
  [[nodiscard]] std::uint64_t unanswered() const noexcept { return unanswered_; }
  /// All that were answered, ever.
  [[nodiscard]] const tally& answered() const noexcept { return answered_; }
  [[nodiscard]] int outstanding() const noexcept { return outstanding_; }
  [[nodiscard]] bool is_closed() const noexcept { return gate_ == gate::closed; }

 private:
  /// What the application lets pass.
  enum class gate : std::uint8_t { open, halted, closed };
  /// Whether sequences can be given out.
  enum class numbering : std::uint8_t { none_needed, absent, asked, usable, fencing };

  /// A recovery that waits until every attempt that concerns it has ended.
  struct waiting_recovery {
    recover_command* command;
    std::optional<std::uint32_t> key;  // its hash; none: the partition and all its keys
    std::uint64_t held_from;           // everything that was produced from here ...
    std::uint64_t held_to;   // ... to here was held back; failures before held_to are collected
    halted_keys keys;        // also held back, up to held_to
    bool other_log = false;  // the contradiction that it answers is taken for another log
  };
  static constexpr std::uint64_t nothing_held = std::numeric_limits<std::uint64_t>::max();

  /// The one question to the log that is under way, or why there is none.
  struct log_look {
    log_question asked;
    bool running = false;
    bool for_tickets = false;
    instant not_before{};
    int failures = 0;
    instant denied_until{};  // no right to read, or a broker too old
    std::error_code denied;
  };

  /// Whether the next batch may be sent: no, not before it has lingered, or now.
  enum class sending : std::uint8_t { barred, lingers, due };
  [[nodiscard]] sending may_send(instant now) const;
  [[nodiscard]] std::size_t size_of_next() const;
  [[nodiscard]] std::size_t room_of(std::size_t size, std::size_t count) const noexcept;
  [[nodiscard]] bool is_lone_record() const;
  void tell_what_can_be_sent(instant now);
  [[nodiscard]] bool passes_gate(const batch& candidate) const noexcept;
  [[nodiscard]] bool open_batch_is_due(instant now) const;
  [[nodiscard]] bool lingers_alone(const batch& front) const noexcept;
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
  void note_delivery(const batch& sent);
  [[nodiscard]] bool is_impossible(const batch& sent, const attempt_end& success);
  void accept_too_late(const batch& sent, const attempt_note& note);
  void refuse_too_late(const batch& sent);
  void decide(batch& sent, const attempt_note& note, instant now);
  void finish_heads(instant now);
  void complete_delivered(batch& done);
  void answer_failed(batch& done, const failure_facts& facts);
  void count_answers(const batch& done, tally_kind kind);
  void dispose(batch* finished);
  void lose_footing() noexcept;
  void finish_barriers();

  void note_doubt(batch& sent, const attempt_note& note, instant now);
  void note_new_leader(instant now);
  [[nodiscard]] bool must_look(const batch& sent) const;
  [[nodiscard]] bool waits_for_log(const batch& sent, instant now) const;
  void look_when_due(instant now);
  [[nodiscard]] bool look_for_batches(instant now);
  void look_for_tickets(instant now);
  [[nodiscard]] bool is_wanted(const unknown_batch& batch) const noexcept;
  [[nodiscard]] unknown_batch* next_ticket_to_look_for(instant now);
  void ask_log(log_question question, bool for_tickets);
  void abandon_look() noexcept;
  [[nodiscard]] bool looks_for(const batch& sent) const noexcept;
  void take_batch_findings(const log_findings& findings, instant now);
  void take_ticket_findings(const log_findings& findings, instant now);
  void found_in_log(batch& sent, const found_batch& where);
  void not_in_log(batch& sent, bool proves, instant now);
  [[nodiscard]] bool absence_proves(leader_epoch doubted_in, const log_findings& findings) const;
  void log_did_not_tell(batch& sent, std::error_code reason);
  [[nodiscard]] batch* awaiting_with(const wire::batch_stamp& stamp) const noexcept;
  void keep_tickets(batch& told);
  void tickets_unwritten(batch& sent);
  void renew_forgotten_tickets(batch& about_to_be_told);
  [[nodiscard]] unknown_batch* tickets_of(const batch& unknown) noexcept;
  void consult_tickets(batch& unknown);
  [[nodiscard]] bool something_is_halted() const noexcept;
  [[nodiscard]] std::optional<instant> next_look(instant now) const;

  [[nodiscard]] bool comes_back(batch& late);
  [[nodiscard]] bool late_ones_come_back(instant now);
  void give_up(batch& head, const failure_facts& facts);
  void fail(batch& victim, const failure_facts& facts);
  [[nodiscard]] bool fail_unbuffered(const record_node& node, const failure_facts& facts);
  [[nodiscard]] std::optional<failure_policy> judge_failure(const failure_case& what);
  [[nodiscard]] std::vector<const batch*> batches_behind(std::uint64_t ordinal) const;
  void apply_policy(failure_policy policy, const batch& victim,
                    const std::vector<std::size_t>& which, const failure_facts& facts);
  void end_failed(batch& victim, failure_policy policy, const failure_facts& facts);
  void fail_overtaken(const batch& younger);
  void send_again(batch& victim);
  void keep_or_free(batch& victim, failure_policy policy, bool somebody_waited);
  void fail_followers();
  [[nodiscard]] static fate fate_of(const batch& sent) noexcept;
  [[nodiscard]] failure_facts facts_of_hopeless(const batch& head, instant now) const;
  void halt_after(std::uint64_t ordinal, std::error_code cause);
  void halt(std::uint64_t ordinal, std::error_code cause);
  void separate_at(std::uint64_t ordinal);
  void expire_unsent(instant now);
  void expire_aside(instant now);
  [[nodiscard]] bool expire_front(instant now);
  [[nodiscard]] std::error_code cause_of(const batch& late) const noexcept;
  void note_held_expiry() noexcept;

  batch& take_out(batch& from, const std::vector<std::size_t>& positions);
  void answer_early(batch& sent, const std::vector<std::size_t>& positions,
                    const failure_facts& facts);
  void tell_delivered(batch& done);
  bool drop_answered(batch& kept);
  void note_deadline(bool own, instant deadline) noexcept;
  void find_early_expiry() noexcept;
  void expire_early(instant now);
  void part_expired(batch& whole, instant now, batch_queue& kept, std::vector<batch*>& expired);

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
  void forget_log();
  void go_on_with_other_log();
  [[nodiscard]] bool was_replaced(const batch& candidate) const noexcept;
  void fail_replaced();
  void ask_for_producer_id();
  [[nodiscard]] static batch_tuple tuple_of(const batch& sent) noexcept;

  // Halted keys: partition_core_keys.cpp
  [[nodiscard]] std::optional<std::error_code> halted_for(const record_node& node) const;
  [[nodiscard]] batch& tail_for(const record_node& node, instant deadline, instant now);
  void describe_halts(partition_status& status) const;
  void halt_keys_of(const batch& victim, const std::vector<std::size_t>& which,
                    const failure_facts& facts);
  void halt_key_of(const record_node& node, const failure_facts& facts);
  void set_aside_halted();
  void put_aside(batch& what);
  void bring_back(const waiting_recovery& asked);
  void note_aside_expiry() noexcept;
  /// The records of `whole` that are picked, as a batch of their own; null if none is. `whole` must
  /// be in no queue; when all are picked it is returned itself and set to null.
  batch* take_part(batch*& whole, const std::function<bool(const completion_entry&)>& picked);

  [[nodiscard]] waiting_recovery* recovery_of_all(std::uint64_t ordinal) noexcept;
  [[nodiscard]] waiting_recovery* recovery_of_key(std::uint64_t ordinal,
                                                  std::uint32_t hash) noexcept;
  [[nodiscard]] bool can_be_carried_out(const waiting_recovery& asked) const noexcept;
  void carry_out_recoveries(instant now);
  void collect_failed(const waiting_recovery& asked, batch_queue& mine);
  void cut_where_they_overlap(batch_queue& mine, bool duplicates_allowed);
  void collect_held(const waiting_recovery& asked, batch_queue& mine);
  void hand_back_unsent(close_command& command) const;
  void drop(batch& kept);
  void discard(const waiting_recovery& asked, batch_queue& failed);
  void take_all(const waiting_recovery& asked, batch_queue& failed);
  void resubmit(const waiting_recovery& asked, batch_queue& failed, instant now);
  void fail_halted_resubmissions();
  [[nodiscard]] bool is_halted(const completion_entry& each, std::uint64_t ordinal) const noexcept;
  [[nodiscard]] bool old_tuple_is_safe(const batch& unknown) const;
  void settle_as_written(batch& late, const waiting_recovery& asked);

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
  bool contradiction_told_ = false;  // since the halt, by an outcome
  halted_keys keys_;
  std::uint64_t halts_ = 0;             // of keys and of the partition, ever
  std::uint64_t following_before_ = 0;  // fail_following: what was produced before this is to fail
  std::error_code following_cause_;

  batch_queue open_;            // never sent, or proven unwritten: no tuple of theirs is in use
  batch_queue unfinished_;      // sealed under the current epoch, oldest first
  batch_queue held_;            // as open_, taken out of it: only records of halted keys
  batch_queue failed_;          // answered, kept for recover()
  std::size_t kept_bytes_ = 0;  // the room that failed_ takes
  int outstanding_ = 0;         // attempts that have not ended, of given-up batches too
  bool new_id_wanted_ = false;  // bumping did not help: somebody else uses the id

  std::vector<waiting_recovery> recoveries_;  // oldest first
  bool resubmitted_ = false;                  // some batch may be that recover() sent again

  std::uint64_t replaced_before_ = 0;  ///< older records were meant for a deleted topic
  settlement_book book_;               // what was answered unknown
  log_look look_;

  std::uint64_t next_ordinal_ = 0;
  std::uint64_t joined_from_ = 0;  // what begins before this takes no further records
  instant newest_deadline_{};      // deadlines rise with the ordinals, resubmitted records excepted
  std::optional<instant>
      held_expiry_;  // the earliest deadline behind a resubmitted batch's later one
  std::optional<instant> aside_expiry_;  // the earliest deadline in held_, or an earlier time
  bool own_deadlines_ = false;           // some record has a deadline of its own
  std::optional<instant> early_expiry_;  // then: the first of all deadlines
  instant now_{};                        // of the command that is carried out
  std::uint64_t unanswered_ = 0;
  instant quiet_until_{};            // see patience()
  std::uint64_t flush_ordinal_ = 0;  // lingering ends early for what was produced before this
  std::vector<flush_barrier*> barriers_;

  std::uint32_t epoch_bumps_ = 0;
  offset last_offset_;                // of the present log
  std::optional<log_anchor> anchor_;  // the batch that ends there
  tally answered_;
  std::error_code last_error_;    // whatever it was
  std::error_code last_trouble_;  // of the broker or on the way there: a cause for others, too
  std::error_code obstacle_;      // until the next attempt
};

}  // namespace partita::actors
