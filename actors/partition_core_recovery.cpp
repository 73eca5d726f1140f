// What passes again after a halt, who waits for what was produced before, and the end of it all.
#include "actors/partition_core.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {

// Flush

/// The recoveries that were asked for before it belong to it: each holds it until its records are
/// counted.
bool partition_core::flush(flush_barrier& barrier, instant) {
  flush_ordinal_ = next_ordinal_;
  barrier.ordinal = next_ordinal_;
  barrier.left = unanswered_ + recoveries_.size();
  if (barrier.left == 0) return true;
  barriers_.push_back(&barrier);
  return false;
}

void partition_core::count_answers(const batch& done, tally_kind kind) {
  const std::uint64_t count = done.unanswered();
  for (flush_barrier* barrier : barriers_) {
    // A resubmitted batch counts from where it was submitted again, not from its first records.
    std::uint64_t covered = done.unanswered_before(barrier->ordinal);
    if (done.submission != 0) covered = done.submission < barrier->ordinal ? count : 0;
    PARTITA_ASSERT(covered <= barrier->left, covered, barrier->left);
    add(barrier->answered, kind, covered);
    barrier->left -= covered;
  }
  finish_barriers();
}

void partition_core::finish_barriers() {
  for (std::size_t i = 0; i < barriers_.size();) {
    flush_barrier& barrier = *barriers_[i];
    if (barrier.left != 0) {
      ++i;
      continue;
    }
    barriers_.erase(barriers_.begin() + static_cast<std::ptrdiff_t>(i));
    effects_.barrier_done(barrier);
  }
}

// Recovery

bool partition_core::will_be_recovered(std::uint64_t ordinal) const noexcept {
  return !recoveries_.empty() && ordinal < recoveries_.back().held_to;
}

void partition_core::recover(recover_command& command, instant now) {
  command.report.was_halted = gate_ == gate::halted;
  if (gate_ != gate::halted) return effects_.recovered(command);
  // New records may come at once, behind everything the recovery will collect.
  gate_ = gate::open;
  halt_cause_ = {};
  recoveries_.push_back({&command, halt_ordinal_, next_ordinal_++});
  new_batch_wanted_ = true;
  bump_when_drained(now);
}

/// Every attempt has ended, so that all that failed or was held lies in failed_ and open_.
void partition_core::carry_out_recoveries(instant now) {
  PARTITA_ASSERT(outstanding_ == 0, outstanding_);
  drop_answered_failures();
  for (const waiting_recovery& asked : std::exchange(recoveries_, {})) {
    recover_command& command = *asked.command;
    std::uint64_t resubmitted = 0;
    switch (command.how) {
      case recovery::discard:
        discard_failed(asked);
        break;
      case recovery::take:
        take_all(asked);
        break;
      case recovery::resubmit:
        resubmitted = resubmit_failed(asked, now);
        break;
    }
    for (flush_barrier* barrier : barriers_)
      if (asked.held_to < barrier->ordinal) barrier->left += resubmitted - 1;
    effects_.recovered(command);
  }
  finish_barriers();
}

void partition_core::discard_failed(const waiting_recovery& asked) {
  while (!failed_.empty() && failed_.front()->first_ordinal() < asked.held_to) {
    batch* next = failed_.pop_front();
    asked.command->report.discarded += next->count();
    effects_.release_budget(next->cost());
    dispose(next);
  }
}

void partition_core::take_all(const waiting_recovery& asked) {
  const failure_facts handed_back{fate::not_written, client_errc::handed_back, {}};
  batch_queue kept;  // produced before the failure and not yet sent, or behind the recovery
  while (!open_.empty()) {
    batch* held = open_.pop_front();
    if (held->first_ordinal() < asked.held_from || held->first_ordinal() >= asked.held_to) {
      kept.push_back(*held);
      continue;
    }
    held->enter(batch_state::failed);
    held->failure = handed_back;
    held->failure.attempts = held->attempts.attempts();
    answer_failed(*held, held->failure);
    failed_.insert_by_order(*held);
  }
  while (!kept.empty()) open_.push_back(*kept.pop_front());
  while (!failed_.empty() && failed_.front()->first_ordinal() < asked.held_to) {
    batch* next = failed_.pop_front();
    std::vector<owned_record> records;
    next->copy_records(records);
    for (std::size_t i = 0; i < records.size(); ++i)
      asked.command->report.taken.push_back(
          {std::move(records[i]), effects_.describe_failure(*next, i)});
    effects_.release_budget(next->cost());
    dispose(next);
  }
}

std::uint64_t partition_core::resubmit_failed(const waiting_recovery& asked, instant now) {
  recover_command& command = *asked.command;
  while (!failed_.empty() && failed_.front()->first_ordinal() < asked.held_to) {
    batch* next = failed_.pop_front();
    const bool certain = next->failure.fate == fate::not_written;
    if (certain || command.options.allow_duplicates) {
      next->resubmit(command.resubmitted_target, command.resubmitted, asked.held_to,
                     now + settings_.delivery_timeout);
      command.resubmitted += next->count();
      unanswered_ += next->count();
      open_.insert_by_order(*next);
      continue;
    }
    for (std::size_t i = 0; i < next->count(); ++i)
      command.report.left_out.push_back(effects_.describe_failure(*next, i));
    effects_.release_budget(next->cost());
    dispose(next);
  }
  newest_deadline_ = std::max(newest_deadline_, now + settings_.delivery_timeout);
  note_held_expiry();
  return command.resubmitted;
}

// The end

void partition_core::close(close_command* command) {
  if (gate_ == gate::closed) return;
  gate_ = gate::closed;
  lose_footing();
  while (!unfinished_.empty()) {
    batch& next = *unfinished_.pop_front();
    if (next.state() == batch_state::delivered) {
      complete_delivered(next);
      continue;
    }
    fail(next, {fate_of(next), client_errc::closed, next.last_cause, limit::close_deadline,
                next.attempts.attempts()});
  }
  while (!open_.empty()) {
    batch& next = *open_.pop_front();
    if (command != nullptr && next.attempts.attempts() == 0) next.copy_records(command->unsent);
    fail(next, {fate::not_written, client_errc::closed, last_error_, limit::close_deadline,
                next.attempts.attempts()});
  }
  while (!failed_.empty()) {
    batch* kept = failed_.pop_front();
    effects_.release_budget(kept->cost());
    dispose(kept);
  }
  held_expiry_.reset();
  for (const waiting_recovery& asked : std::exchange(recoveries_, {})) {
    for (flush_barrier* barrier : barriers_)
      if (asked.held_to < barrier->ordinal) --barrier->left;
    effects_.recovered(*asked.command);
  }
  finish_barriers();
}

}  // namespace partita::actors
