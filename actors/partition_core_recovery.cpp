// What passes again after a halt, who waits for what was produced before, and the end of it all.
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"
#include "wire/mutant.hpp"
#include "actors/record_node.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

/// Nobody has it. Attempts that were under way when it was given up have ended since.
bool is_unwritten(const batch& failed) noexcept {
  if (failed.acknowledged_offset.has_value()) return false;
  return failed.failure.fate == fate::not_written ||
         (!failed.attempts.doubted() && failed.failure.code != client_errc::invariant_broken);
}

}  // namespace

// Flush

/// The recoveries that were asked for before it belong to it: each holds it until its records are
/// counted.
bool partition_core::flush(flush_barrier& barrier, instant) {
  PARTITA_VISIT(core_event::flush, state());
  end_linger();
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

partition_core::waiting_recovery* partition_core::recovery_of_all(std::uint64_t ordinal) noexcept {
  const auto found = std::find_if(
      recoveries_.rbegin(), recoveries_.rend(),
      [&](const waiting_recovery& each) { return !each.key && ordinal < each.held_to; });
  return found == recoveries_.rend() ? nullptr : &*found;
}

partition_core::waiting_recovery* partition_core::recovery_of_key(std::uint64_t ordinal,
                                                                  std::uint32_t hash) noexcept {
  const auto found =
      std::find_if(recoveries_.rbegin(), recoveries_.rend(), [&](const waiting_recovery& each) {
        return (!each.key || *each.key == hash) && ordinal < each.held_to;
      });
  return found == recoveries_.rend() ? nullptr : &*found;
}

void partition_core::recover(recover_command& command, instant now) {
  PARTITA_VISIT(core_event::recover, state());
  waiting_recovery asked{&command, {}, nothing_held, 0, {}, false};
  if (command.key) asked.key = key_hash_of(command.key);
  const halted_key* one = asked.key ? keys_.find(*asked.key) : nullptr;
  command.report.was_halted = asked.key ? one != nullptr : gate_ == gate::halted || !keys_.empty();
  if (gate_ == gate::closed || !command.report.was_halted) {
    command.report.was_halted = false;
    return effects_.recovered(command);
  }
  // New records may come at once, behind everything the recovery will collect.
  if (one != nullptr) {
    asked.keys.add(*asked.key, one->from, one->cause, {});
    keys_.remove(*asked.key);
  } else {
    asked.keys = std::exchange(keys_, {});
    if (gate_ == gate::halted) asked.held_from = halt_ordinal_;
    asked.other_log = std::exchange(contradiction_told_, false) && ledger_.another_log_suspected();
    gate_ = gate::open;
    halt_cause_ = {};
  }
  bring_back(asked);
  asked.held_to = next_ordinal_++;
  joined_from_ = next_ordinal_;
  recoveries_.push_back(std::move(asked));
  bump_when_drained(now);
}

/// All that failed or was held for it lies in failed_ and open_, and no younger batch of the failed
/// ones' epoch is under way. A key does not wait for what is under way of other keys.
bool partition_core::can_be_carried_out(const waiting_recovery& asked) const noexcept {
  if (numbering_ == numbering::fencing) return false;
  if (!asked.key) return outstanding_ == 0;
  for (const batch* at = failed_.front(); at != nullptr; at = batch_queue::after(*at))
    if (at->first_ordinal() < asked.held_to && at->attempts.under_way()) return false;
  return true;
}

void partition_core::carry_out_recoveries(instant now) {
  while (!recoveries_.empty() && can_be_carried_out(recoveries_.front())) {
    const waiting_recovery asked = std::move(recoveries_.front());
    recoveries_.erase(recoveries_.begin());
    recover_command& command = *asked.command;
    if (asked.other_log) go_on_with_other_log();
    batch_queue failed;
    collect_failed(asked, failed);
    switch (command.how) {
      case recovery::discard:
        discard(asked, failed);
        break;
      case recovery::take:
        take_all(asked, failed);
        break;
      case recovery::resubmit:
        resubmit(asked, failed, now);
        break;
    }
    for (flush_barrier* barrier : barriers_)
      if (asked.held_to < barrier->ordinal) barrier->left += command.resubmitted.size() - 1;
    effects_.recovered(command);
    finish_heads(now);
  }
  finish_barriers();
}

/// Of a batch that failed under halt_key the records without a key failed alone.
void partition_core::collect_failed(const waiting_recovery& asked, batch_queue& mine) {
  batch_queue kept;
  while (!failed_.empty() && failed_.front()->first_ordinal() < asked.held_to) {
    batch* next = failed_.pop_front();
    kept_bytes_ -= next->cost();
    // Attempts that were under way when it was given up have ended since, or the log was read.
    consult_tickets(*next);
    if (!drop_answered(*next)) continue;
    const bool keyed_only = next->keyed_only;
    batch* part = take_part(next, [&](const completion_entry& each) {
      return asked.key ? each.key_hash == *asked.key : !keyed_only || each.key_hash != 0;
    });
    if (part != nullptr) mine.insert_by_order(*part);
    if (next == nullptr) continue;
    if (!asked.key) {
      drop(*next);
    } else {
      kept_bytes_ += next->cost();
      kept.insert_by_order(*next);
    }
  }
  while (!kept.empty()) failed_.insert_by_order(*kept.pop_front());
  cut_where_they_overlap(mine, asked.command->options.allow_duplicates);
}

/// What failed batch by batch, or key by key, may overlap. As they are, the report would answer
/// records in another order than theirs. What may be written stays whole, unless it may be written
/// twice.
void partition_core::cut_where_they_overlap(batch_queue& mine, bool duplicates_allowed) {
  batch_queue apart;
  while (!mine.empty()) {
    batch* next = mine.pop_front();
    const bool written = next->acknowledged_offset.has_value();
    if (!mine.empty() && !written && (duplicates_allowed || is_unwritten(*next))) {
      const std::uint64_t limit = mine.front()->first_ordinal();
      const batch& in = *next;
      batch* front = take_part(
          next, [&](const completion_entry& each) { return in.ordinal_of(each) < limit; });
      if (next != nullptr) mine.insert_by_order(*next);
      next = front;
    }
    apart.push_back(*next);
  }
  while (!apart.empty()) mine.push_back(*apart.pop_front());
}

void partition_core::drop(batch& kept) {
  effects_.release_budget(kept.cost());
  dispose(&kept);
}

void partition_core::discard(const waiting_recovery& asked, batch_queue& failed) {
  while (!failed.empty()) {
    batch& next = *failed.pop_front();
    asked.command->report.discarded += next.count();
    drop(next);
  }
  while (planted(mutant::discard_drops_held) && !open_.empty() &&
         open_.front()->first_ordinal() < asked.held_to) {
    batch& held = *open_.pop_front();
    unanswered_ -= held.unanswered();
    drop(held);
  }
}

/// What is held for this recovery: also what returned from the connection since it was asked for.
void partition_core::collect_held(const waiting_recovery& asked, batch_queue& mine) {
  const failure_facts handed_back{fate::not_written, client_errc::handed_back, {}};
  batch_queue kept;
  while (!open_.empty()) {
    batch* next = open_.pop_front();
    const batch& in = *next;
    batch* part = take_part(next, [&](const completion_entry& each) {
      const std::uint64_t ordinal = in.ordinal_of(each);
      return ordinal < asked.held_to &&
             (ordinal >= asked.held_from || asked.keys.holds(each.key_hash, ordinal));
    });
    if (next != nullptr) kept.push_back(*next);
    if (part == nullptr) continue;
    part->enter(batch_state::failed);
    part->failure = handed_back;
    part->failure.attempts = part->attempts.attempts();
    answer_failed(*part, part->failure);
    mine.insert_by_order(*part);
  }
  while (!kept.empty()) open_.insert_by_order(*kept.pop_front());
  note_held_expiry();
}

void partition_core::take_all(const waiting_recovery& asked, batch_queue& failed) {
  collect_held(asked, failed);
  std::vector<std::pair<std::uint64_t, taken_record>> taken;
  while (!failed.empty()) {
    batch& next = *failed.pop_front();
    std::vector<owned_record> records;
    next.copy_records(records);
    for (std::size_t i = 0; i < records.size(); ++i)
      taken.emplace_back(next.ordinal_of(i),
                         taken_record{std::move(records[i]), effects_.describe_failure(next, i)});
    drop(next);
  }
  // Batches of several keys overlap.
  std::stable_sort(taken.begin(), taken.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (planted(mutant::take_backwards)) std::reverse(taken.begin(), taken.end());
  for (auto& [ordinal, each] : taken) asked.command->report.taken.push_back(std::move(each));
}

/// Another attempt with the old bytes and numbers settles it without a newer record overtaking it:
/// while nothing was numbered since, a broker that has it recognises it, and one that has not takes
/// it now. Not where a broker may have forgotten the producer (L10 b, c).
bool partition_core::old_tuple_is_safe(const batch& unknown) const {
  if (numbering_ != numbering::usable || !settings_.idempotent) return false;
  const wire::batch_stamp tuple = unknown.tuple();
  const bool nothing_since = stamp_.next() == sequence{0} && tuple.id == stamp_.id() &&
                             tuple.epoch.value + 1 == stamp_.epoch().value;
  const bool whole = unknown.bytes().count() == static_cast<std::int32_t>(unknown.count());
  return nothing_since && whole &&
         ledger_.check_before_write(tuple_of(unknown)) == ledger_answer::ok &&
         unknown.submission == 0 && !unknown.forgotten &&
         unknown.failure.code != client_errc::invariant_broken && !back_dated(unknown);
}

void partition_core::resubmit(const waiting_recovery& asked, batch_queue& failed, instant now) {
  recover_command& command = *asked.command;
  const instant deadline = now + settings_.delivery_timeout;
  bool at_front = open_.empty() || failed.empty() ||
                  failed.front()->first_ordinal() < open_.front()->first_ordinal();
  while (!failed.empty()) {
    batch& next = *failed.pop_front();
    const bool written = next.acknowledged_offset.has_value();
    const bool unwritten = is_unwritten(next);
    const bool once_more = !written && !unwritten && !command.options.allow_duplicates &&
                           at_front && old_tuple_is_safe(next);
    at_front = at_front && (once_more || written);
    if (written) {
      settle_as_written(next, asked);
    } else if (once_more) {
      // Under the old numbers it is on its way once more.
      if (unknown_batch* known = tickets_of(next)) known->live = true;
      next.retry_under_old_tuple(command.resubmitted_target, command.resubmitted.size(),
                                 asked.held_to, deadline);
      unfinished_.push_back(next);
    } else if (unwritten || command.options.allow_duplicates ||
               planted(mutant::resubmits_unknown)) {
      next.resubmit(command.resubmitted_target, command.resubmitted.size(), asked.held_to,
                    deadline);
      if (planted(mutant::resubmit_at_the_back))
        open_.push_back(next);
      else
        open_.insert_by_order(next);
    } else {
      for (std::size_t i = 0; i < next.count(); ++i)
        command.report.left_out.push_back(effects_.describe_failure(next, i));
      drop(next);
      continue;
    }
    for (std::size_t i = 0; i < next.count(); ++i) command.resubmitted.push_back(next.number_of(i));
    unanswered_ += next.count();
    resubmitted_ = true;
  }
  newest_deadline_ = std::max(newest_deadline_, deadline);
  note_held_expiry();
}

bool partition_core::is_halted(const completion_entry& each, std::uint64_t ordinal) const noexcept {
  return (gate_ == gate::halted && ordinal >= halt_ordinal_) || keys_.holds(each.key_hash, ordinal);
}

/// Only the report of their recovery tells what became of them, and it tells of all at once: held
/// behind a newer halt they would hide the failure that made it from the one who waits for the
/// report. They end, and belong to the next recovery.
void partition_core::fail_halted_resubmissions() {
  if (!resubmitted_ || numbering_ == numbering::fencing) return;
  if (gate_ != gate::halted && keys_.empty()) return;
  resubmitted_ = false;
  for (const batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    resubmitted_ = resubmitted_ || at->submission != 0;
  batch_queue ended;
  for (batch_queue* queue : {&open_, &held_}) {
    batch_queue kept;
    while (!queue->empty()) {
      batch* next = queue->pop_front();
      const batch& in = *next;
      batch* part =
          next->submission == 0 ? nullptr : take_part(next, [&](const completion_entry& each) {
            return is_halted(each, in.ordinal_of(each));
          });
      if (part != nullptr) ended.insert_by_order(*part);
      if (next == nullptr) continue;
      resubmitted_ = resubmitted_ || next->submission != 0;
      kept.insert_by_order(*next);
    }
    while (!kept.empty()) queue->push_back(*kept.pop_front());
  }
  if (ended.empty()) return;
  note_held_expiry();
  note_aside_expiry();
  joined_from_ = next_ordinal_;  // they may be sent again, before what comes now
  while (!ended.empty()) {
    batch& next = *ended.pop_front();
    const halted_key* key = keys_.find(next.entries().front().key_hash);
    const std::error_code cause =
        gate_ == gate::halted || key == nullptr ? halt_cause_ : key->cause;
    next.enter(batch_state::failed);
    next.failure = {fate::not_written, client_errc::halted, cause, limit::none,
                    next.attempts.attempts()};
    answer_failed(next, next.failure);
    next.keyed_only = gate_ != gate::halted;
    kept_bytes_ += next.cost();
    failed_.insert_by_order(next);
  }
}

/// An answer that came too late for its deadline: its records are told when the recovery is.
void partition_core::settle_as_written(batch& late, const waiting_recovery& asked) {
  std::uint64_t index = asked.command->resubmitted.size();
  for (completion_entry& each : late.entries()) {
    each.target = asked.command->resubmitted_target;
    each.data = index++;
    each.answered = false;
  }
  late.submission = asked.held_to;
  late.enter(batch_state::delivered);
  unfinished_.push_back(late);
}

// The end

/// What is going to be answered not_written, also what is held behind a halt, in one order.
void partition_core::hand_back_unsent(close_command& command) const {
  std::vector<std::pair<std::uint64_t, owned_record>> unsent;
  for (const batch_queue* queue : {&unfinished_, &open_, &held_}) {
    for (const batch* at = queue->front(); at != nullptr; at = batch_queue::after(*at)) {
      const bool sent = queue == &unfinished_;
      if (sent && (at->state() == batch_state::delivered || fate_of(*at) == fate::unknown))
        continue;
      std::vector<owned_record> records;
      at->copy_records(records);
      for (std::size_t i = 0; i < records.size(); ++i)
        if (!at->entries()[i].answered)
          unsent.emplace_back(at->ordinal_of(i), std::move(records[i]));
    }
  }
  std::stable_sort(unsent.begin(), unsent.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [ordinal, each] : unsent) command.unsent.push_back(std::move(each));
}

void partition_core::close(close_command* command) {
  PARTITA_VISIT(core_event::close, state());
  if (gate_ == gate::closed) return;
  gate_ = gate::closed;
  lose_footing();
  abandon_look();
  if (command != nullptr) hand_back_unsent(*command);
  while (!unfinished_.empty()) {
    batch& next = *unfinished_.pop_front();
    if (planted(mutant::close_calls_it_delivered) && next.state() == batch_state::in_flight)
      next.enter(batch_state::delivered);
    if (next.state() == batch_state::delivered) {
      complete_delivered(next);
      continue;
    }
    fail(next, {fate_of(next), client_errc::closed, next.last_cause, limit::close_deadline,
                next.attempts.attempts()});
  }
  for (batch_queue* queue : {&open_, &held_}) {
    while (!queue->empty() && !planted(mutant::close_forgets_unsent)) {
      batch& next = *queue->pop_front();
      fail(next, {fate::not_written, client_errc::closed, cause_of(next), limit::close_deadline,
                  next.attempts.attempts()});
    }
  }
  while (!failed_.empty()) {
    batch* kept = failed_.pop_front();
    effects_.release_budget(kept->cost());
    dispose(kept);
  }
  book_.close(client_errc::closed);
  held_expiry_.reset();
  aside_expiry_.reset();
  following_before_ = 0;
  kept_bytes_ = 0;
  keys_.clear();
  for (const waiting_recovery& asked : std::exchange(recoveries_, {})) {
    for (flush_barrier* barrier : barriers_)
      if (asked.held_to < barrier->ordinal) --barrier->left;
    effects_.recovered(*asked.command);
  }
  finish_barriers();
}

}  // namespace partita::actors
