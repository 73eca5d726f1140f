// One batch of a partition: its records' bytes, who waits for them, its tuple, state and attempts.
//
// It is itself a node of the partition's inbox: the broker's answer travels in it, so that
// returning one allocates nothing.
//
// Invariants
// 1. Records go in while it is open. Sealing freezes the bytes; a newer tuple may be stamped on
// only
//    while no attempt can have been appended (L1, L2).
// 2. enter() is the only way to another state, and refuses illegal moves.
// 3. Entries are in the order of the records. Taking records out is possible only while no tuple of
//    it is in use: never sent, or proven unwritten, or answered as failed.
//
// Threads: owned by its partition; while an attempt is outstanding the connection reads bytes()
// too.
#pragma once

#include "actors/completion.hpp"
#include "actors/doubt_notes.hpp"
#include "actors/inbox.hpp"
#include "actors/instant.hpp"
#include "actors/record_node.hpp"
#include "actors/partition_effects.hpp"
#include "actors/verdict.hpp"

#include "wire/record_batch.hpp"

#include <partita/record.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace partita::actors {

enum class batch_state : std::uint8_t {
  open,            ///< takes records
  sealed,          ///< bytes final, no tuple in use
  in_flight,       ///< an attempt is outstanding
  awaiting_retry,  ///< keeps its tuple
  delivered,       ///< acknowledged; waits for older batches
  failed,          ///< answered as failed
};

/// An attempt's end, noted in the batch on its way back to the partition.
struct attempt_note {
  attempt_end end;
  std::int64_t log_append_time_ms = -1;
  std::error_code cause;  ///< of an attempt that ended without an answer
};

/// A record that the broker refused by itself (KIP-467).
struct record_fault {
  std::uint32_t position = 0;
  std::string text;  ///< the broker's; may be empty
};

class batch final : public command {
 public:
  batch(wire::segment_pool* pool, void* owner);
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;

  /// Empties it for another use; keeps the memory of its entries.
  void reset();

  [[nodiscard]] batch_state state() const noexcept { return state_; }
  void enter(batch_state next);

  /// The partition actor that gets it back.
  [[nodiscard]] void* owner() const noexcept { return owner_; }
  void set_owner(void* owner) noexcept { owner_ = owner; }

  // Filling
  [[nodiscard]] bool fits(const record_node& node, std::size_t bytes_max,
                          std::size_t records_max) const noexcept;
  /// `came`: the linger of a batch counts from the coming of its first record.
  void append(const record_node& node, std::uint64_t ordinal, instant deadline, instant came);

  // Sealing
  /// Freezes the bytes under this tuple, or renumbers a sealed batch that has none in use.
  void stamp(const wire::batch_stamp& tuple, wire::codec codec, int level);
  [[nodiscard]] const wire::sealed_batch& bytes() const noexcept { return sealed_; }
  [[nodiscard]] wire::batch_stamp tuple() const noexcept { return sealed_.stamp(); }

  [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// What it takes of a request, before compression while it is open.
  [[nodiscard]] std::size_t size() const noexcept;
  /// What it takes before compression.
  [[nodiscard]] std::size_t uncompressed_size() const noexcept;
  /// What its records hold of the budget.
  [[nodiscard]] std::size_t cost() const noexcept { return cost_; }
  [[nodiscard]] std::uint64_t first_ordinal() const noexcept { return first_ordinal_; }
  [[nodiscard]] std::uint64_t ordinal_of(std::size_t index) const noexcept {
    return first_ordinal_ + entries_[index].ordinal_delta;
  }
  [[nodiscard]] std::uint64_t ordinal_of(const completion_entry& entry) const noexcept {
    return first_ordinal_ + entry.ordinal_delta;
  }
  /// What the application knows the record by.
  [[nodiscard]] record_number number_of(std::size_t index) const noexcept {
    return {ordinal_of(index) + 1};
  }
  [[nodiscard]] std::uint64_t last_ordinal() const noexcept { return ordinal_of(count() - 1); }
  /// How many of its records were produced before the one with this ordinal.
  [[nodiscard]] std::size_t records_before(std::uint64_t ordinal) const noexcept;
  /// The same, without those that were answered by themselves.
  [[nodiscard]] std::size_t unanswered_before(std::uint64_t ordinal) const noexcept;
  /// Where the record with this ordinal is; count() if it is not here.
  [[nodiscard]] std::size_t index_of(std::uint64_t ordinal) const noexcept;
  /// When it is given up as a whole once it was sent: the deadline of its oldest record. With
  /// records that have deadlines of their own: the last of all; the others end before by
  /// themselves.
  [[nodiscard]] instant deadline() const noexcept { return mixed_ ? last_deadline_ : deadline_; }
  /// The first deadline of a record without an answer; max() if there is none.
  [[nodiscard]] instant first_deadline() const noexcept { return first_deadline_; }
  [[nodiscard]] instant deadline_of(std::size_t index) const noexcept {
    return deadline_ + std::chrono::milliseconds(entries_[index].deadline_delta_ms);
  }
  [[nodiscard]] instant opened_at() const noexcept { return opened_at_; }
  [[nodiscard]] std::int64_t base_timestamp() const noexcept;
  [[nodiscard]] std::int64_t max_timestamp() const noexcept;
  [[nodiscard]] std::vector<completion_entry>& entries() noexcept { return entries_; }
  [[nodiscard]] const std::vector<completion_entry>& entries() const noexcept { return entries_; }

  // Records that end before their batch
  /// Those without an answer whose deadline has passed.
  [[nodiscard]] std::vector<std::size_t> expired(instant now) const;
  /// They have their answers; nobody waits for them any more.
  void mark_answered(const std::vector<std::size_t>& positions);
  [[nodiscard]] std::size_t answered_count() const noexcept { return answered_count_; }
  [[nodiscard]] std::size_t unanswered() const noexcept {
    return entries_.size() - answered_count_;
  }

  // Without a tuple in use
  /// How many records at its front have a deadline at or before `now`.
  [[nodiscard]] std::size_t expired_prefix(instant now) const noexcept;
  using record_filter = std::function<bool(std::size_t position, const completion_entry& entry)>;
  /// Moves the records that `wanted` picks, and who waits for them, in their order into the empty
  /// batch `taken`, which gets this one's state and history of attempts. Both are encoded anew and
  /// compressed when they are stamped. Returns how many were moved: a batch that is left without
  /// records is the caller's to dispose of. Of a failed batch entries keep their positions, which
  /// count its tickets.
  std::size_t extract(const record_filter& wanted, batch& taken);
  /// The first `count` records of a batch with more.
  void split_front(std::size_t count, batch& front);
  /// The front half, by bytes; both have at least one record. Not for a single record.
  void split_half(batch& front);
  /// The records in order; the views are valid during the call only. An open batch stays open.
  void read_records(const std::function<void(std::size_t, const record&)>& visit) const;
  /// Appends all records to `out`.
  void copy_records(std::vector<owned_record>& out) const;
  /// Nothing of it was written, and it is to be sent after all: attempts and deadline begin anew,
  /// who waits for its records stays.
  void renew(instant deadline);
  /// Makes it a new submission: other waiters, a deadline that begins now.
  void resubmit(completion_target* target, std::uint64_t first_index, std::uint64_t position,
                instant deadline);

  /// In doubt, and to be settled by further attempts with the same bytes and tuple: doubt and
  /// tickets stay.
  void retry_under_old_tuple(completion_target* target, std::uint64_t first_index,
                             std::uint64_t place, instant deadline);

  // What the partition notes down
  attempt_tally attempts;
  doubt_notes doubt;
  attempt_note note;
  instant retry_at{};
  bool doubted_before_last = false;  ///< doubt left by the attempts before the last one that ended
  int same_code_repeats = 0;
  broker_errc last_code = broker_errc::none;
  std::error_code last_cause;
  std::string broker_text;           ///< the last answer's words
  std::vector<record_fault> faults;  ///< the last answer's, by position
  bool too_large = false;            ///< refused for its size: must be cut before it is sent again
  std::optional<attempt_note> hopeless;  ///< an answer that ends it as soon as it is the oldest
  std::optional<offset> acknowledged_offset;
  std::int64_t log_append_time_ms = -1;
  std::uint32_t footing = 0;     ///< the partition's, when the last attempt began
  bool repeated = false;         ///< the last attempt was not the first under its numbers
  broker_id sent_to;             ///< who led then
  leader_epoch sent_in;          ///< and by which election
  bool forgotten = false;        ///< a broker may have forgotten it: no further attempt as it is
  bool renewed = false;          ///< by a failure handler, and not yet numbered again
  bool keyed_only = false;       ///< failed and kept: but not its records without a key
  std::uint64_t submission = 0;  ///< 0, or where in the order of commands it was resubmitted
  failure_facts failure{fate::unknown, {}, {}, limit::none, 0};  ///< once failed
  std::uint64_t first_ticket = 0;  ///< of its first record, if unknown
  [[nodiscard]] ticket ticket_of(std::size_t index) const noexcept {
    return {first_ticket == 0 ? 0 : first_ticket + entries_[index].position};
  }
  std::uint64_t swept = 0;  ///< the partition's halts when it was last looked through for them
  bool returning = false;   ///< on its way back with what came of the last attempt
  bool orphaned = false;    ///< nobody needs it but its outstanding attempt (L7)
  batch* next_in_queue = nullptr;

 private:
  void find_deadlines() noexcept;
  void begin_anew(instant deadline);
  struct part;
  using cut_filter = std::function<bool(std::size_t index, std::size_t bytes_before)>;
  [[nodiscard]] bool may_be_cut() const noexcept;
  std::size_t cut(const cut_filter& wanted, batch& taken);
  void become(part&& source, const batch& origin);

  batch_state state_ = batch_state::open;
  bool frozen_ = false;
  wire::segment_pool* pool_;
  void* owner_;
  wire::batch_builder builder_;
  wire::sealed_batch sealed_;
  std::vector<completion_entry> entries_;
  std::size_t cost_ = 0;
  std::uint64_t first_ordinal_ = 0;
  instant deadline_{};  // of the first record
  instant first_deadline_ = instant::max();
  instant last_deadline_{};
  bool mixed_ = false;  // some have deadlines of their own
  std::size_t answered_count_ = 0;
  instant opened_at_{};
};

}  // namespace partita::actors
