// What a partition core asks of its surroundings. The partition actor carries it out; a unit test
// writes it down. Calls are made inside the core's commands, in the order in which they count.
//
// A sink and not a returned list: a command that completes ten thousand records must not build ten
// thousand effect values (docs/decisions/0002-effects-through-a-sink.md).
#pragma once

#include "actors/instant.hpp"
#include "actors/settlement_book.hpp"

#include <partita/failure_handler.hpp>
#include <partita/outcome.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace partita::actors {

class batch;
struct completion_entry;
struct record_node;
struct flush_barrier;
struct recover_command;

/// Why records failed, without the words that are the same for the whole partition.
struct failure_facts {
  partita::fate fate;
  std::error_code code;
  std::error_code cause;
  limit ended_by = limit::none;
  int attempts = 0;
  std::string detail{};  ///< in words: the broker's, or sizes
};

/// A failure as the application's handler sees it. Exactly one of `failed` and `refused` is set.
struct failure_case {
  const batch* failed = nullptr;
  const record_node* refused = nullptr;  ///< it failed before it was buffered
  const failure_facts& facts;
  std::uint64_t ordinal = 0;         ///< of the first failed record
  std::vector<const batch*> behind;  ///< records with greater ordinals, oldest first
};

class partition_effects : public settlement_book::listener {
 public:
  /// Asks the application's failure handler, synchronously, before anything else happens (L6).
  [[nodiscard]] virtual failure_verdict judge_failure(const failure_case& what) = 0;
  /// It asked for what can not be done; the policy acts in its place.
  virtual void verdict_was_impossible() = 0;

  // User code runs inside these four, synchronously (L6).
  virtual void complete_delivered(batch& done) = 0;
  virtual void complete_failed(batch& done, const failure_facts& facts) = 0;
  virtual void complete_refused(const record_node& node, const failure_facts& facts) = 0;
  /// Records of a sent batch that end before it, which goes on. The entries are copies.
  virtual void complete_early(batch& sent, std::span<const completion_entry> told,
                              const failure_facts& facts) = 0;

  /// A tracked record lies in a batch; it is found by its ordinal from now on.
  virtual void buffered(const record_node& node, std::uint64_t ordinal) = 0;
  virtual void barrier_done(flush_barrier& barrier) = 0;
  /// Its report is complete but for the answers of the `resubmitted` records.
  virtual void recovered(recover_command& command) = 0;
  /// The failure that record `index` of a failed batch was answered with.
  [[nodiscard]] virtual failed describe_failure(const batch& done, std::size_t index) const = 0;
  /// The room of answered records is free again.
  virtual void release_budget(std::size_t bytes) = 0;

  virtual batch* new_batch() = 0;
  virtual void free_batch(batch* finished) = 0;

  /// There is something to send: the leader's connection may come and take it.
  virtual void ready(std::size_t bytes) = 0;
  /// There will be, when it has lingered: it can be had before, after end_linger().
  virtual void lingers() = 0;
  /// What is ready has lingered to the end: what lingers elsewhere can share its request.
  virtual void linger_is_over() = 0;
  /// Nothing is buffered or under way in any other partition of this producer.
  [[nodiscard]] virtual bool is_alone() const = 0;
  /// The frame of this attempt is not to leave any more. True: attempt_lost() follows, in which it
  /// was not handed over unless its last byte left this very moment. False: it was.
  [[nodiscard]] virtual bool withdraw(batch& queued) = 0;
  /// Calls timer_fired() then; replaces the time armed before. None: disarm.
  virtual void arm_timer(std::optional<instant> at) = 0;
  virtual void ask_producer_id() = 0;
  virtual void refresh_metadata() = 0;
  /// These keys are halted now; none: the whole partition is.
  virtual void halted(std::error_code cause, const std::vector<std::string>& keys) = 0;
  /// An answer contradicts what was sent (L9): counted and reported.
  virtual void contradicted() = 0;
  /// Answered once by looked(), unless another question takes its place.
  virtual void look_into_log(const log_question& question) = 0;

  [[nodiscard]] virtual std::chrono::milliseconds wall_clock() const = 0;  ///< since the epoch
  [[nodiscard]] virtual double draw() = 0;  ///< uniform in [0, 1), for jitter

 protected:
  ~partition_effects() = default;
};

}  // namespace partita::actors
