// How a batch ends without a success, when records expire, and the end of an epoch. What a failure
// does to others is in partition_core_policy.cpp, recovery in partition_core_recovery.cpp.
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"
#include "wire/mutant.hpp"
#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

/// An attempt that is under way may still be executed, so it counts as doubt.
bool may_be_written(const batch& sent) noexcept {
  return sent.attempts.doubted() || sent.attempts.under_way();
}

/// Its answer contradicts what was sent, or its write would have (L9).
bool contradicted(const batch& sent) noexcept {
  return sent.hopeless && sent.hopeless->cause == client_errc::invariant_broken;
}

/// The mutant that gives this batch's sequences to the next one.
mutant reuse_of(const batch& head, const failure_facts& facts) noexcept {
  if (head.unanswered() == 0) return mutant::reuse_tuple;
  return facts.ended_by == limit::delivery_timeout ? mutant::rewind_at_deadline
                                                   : mutant::rewind_after_error;
}

}  // namespace

// Failing

fate partition_core::fate_of(const batch& sent) noexcept {
  if (planted(mutant::under_way_is_no_doubt))
    return sent.attempts.doubted() || contradicted(sent) ? fate::unknown : fate::not_written;
  return may_be_written(sent) || contradicted(sent) ? fate::unknown : fate::not_written;
}

void partition_core::answer_failed(batch& done, const failure_facts& facts) {
  (facts.fate == fate::unknown ? answered_.unknown : answered_.not_written) += done.unanswered();
  unanswered_ -= done.unanswered();
  if (facts.fate == fate::unknown) renew_forgotten_tickets(done);
  effects_.complete_failed(done, facts);
  if (facts.fate == fate::unknown)
    keep_tickets(done);
  else
    tickets_unwritten(done);
  count_answers(done, facts.fate == fate::unknown ? tally_kind::unknown : tally_kind::not_written);
}

failure_facts partition_core::facts_of_hopeless(const batch& head, instant now) const {
  const int attempts = head.attempts.attempts();
  // A contradiction halts whatever the policy, so no deadline may hide it.
  if (contradicted(head))
    return {fate::unknown, client_errc::invariant_broken, head.last_cause, limit::none, attempts};
  const std::error_code cause = head.hopeless->cause;
  if (head.doubt.undecided && head.deadline() > now)
    return {fate_of(head), cause, head.doubt.undecided, limit::none, attempts};
  if (head.deadline() <= now)
    return {fate_of(head), client_errc::delivery_timeout, cause, limit::delivery_timeout, attempts};
  return {fate_of(head), cause, cause, limit::none, attempts, detail_of(head)};
}

/// The oldest batch ends here. If it was ever sent its tuple is spent, so the epoch ends with it.
void partition_core::give_up(batch& head, const failure_facts& facts) {
  PARTITA_ASSERT(&head == unfinished_.front());
  unfinished_.pop_front();
  if (settings_.idempotent) ledger_.abandoned(tuple_of(head));
  if (planted(reuse_of(head, facts)) && unfinished_.empty() && numbering_ == numbering::usable)
    stamp_ = producer_stamp(stamp_.id(), stamp_.epoch(), head.tuple().base);
  else
    start_fencing();
  fail(head, facts);
}

/// What is read of an answer decides, and it is next in the queue. What has not left this process
/// wholly is executed by nobody: it is taken back, and comes back as not sent (TIME-19).
bool partition_core::comes_back(batch& late) {
  if (late.returning) return true;
  const bool complete = !late.attempts.under_way() || late.attempts.in_doubt();
  return !complete && effects_.withdraw(late);
}

/// Of those whose time is up as a whole.
bool partition_core::late_ones_come_back(instant now) {
  bool some = false;
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    if (at->deadline() <= now && comes_back(*at)) some = true;
  return some;
}

void partition_core::timer_fired(instant now) {
  PARTITA_VISIT(core_event::timer, state());
  now_ = now;
  // Their ends come first: all that expires here lies behind them, or at their sides.
  if (late_ones_come_back(now)) return;
  while (!unfinished_.empty() && unfinished_.front()->deadline() <= now) {
    batch& head = *unfinished_.front();
    if (planted(mutant::answers_late) && head.state() == batch_state::in_flight) break;
    if (head.state() == batch_state::delivered || head.hopeless) {
      finish_heads(now);
      continue;
    }
    give_up(head, {fate_of(head), client_errc::delivery_timeout, cause_of(head),
                   limit::delivery_timeout, head.attempts.attempts()});
  }
  finish_heads(now);
  expire_early(now);
  expire_unsent(now);
  expire_aside(now);
  bump_when_drained(now);
}

void partition_core::expire_unsent(instant now) {
  if (planted(mutant::unsent_never_expire)) return;
  while (expire_front(now)) {
  }
  if (!held_expiry_ || *held_expiry_ > now) return;
  // Held records lie behind resubmitted ones, whose deadlines began anew.
  batch_queue kept;
  while (!open_.empty())
    if (!expire_front(now)) kept.push_back(*open_.pop_front());
  while (!kept.empty()) open_.push_back(*kept.pop_front());
  note_held_expiry();
}

bool partition_core::expire_front(instant now) {
  if (open_.empty()) return false;
  batch* front = open_.front();
  const std::size_t expired = front->expired_prefix(now);
  if (expired == 0) return false;
  const int attempts = front->attempts.attempts();
  if (expired < front->count() && attempts == 0) {
    batch* part = effects_.new_batch();
    open_.pop_front();
    front->split_front(expired, *part);
    // Batches of several keys overlap: what is left of it may lie behind the next one now.
    open_.insert_by_order(*std::exchange(front, part));
  } else {
    open_.pop_front();  // what was sent once expires as a whole
  }
  fail(*front, {fate::not_written, client_errc::delivery_timeout, cause_of(*front),
                limit::delivery_timeout, attempts});
  return true;
}

/// The last thing that stood in the way of a batch whose time is up.
std::error_code partition_core::cause_of(const batch& late) const noexcept {
  if (obstacle_ && !late.attempts.under_way()) return obstacle_;
  if (late.attempts.attempts() != 0) return late.last_cause;
  if (gate_ == gate::halted && late.last_ordinal() >= halt_ordinal_) return halt_cause_;
  const completion_entry& first = late.entries().front();
  if (keys_.holds(first.key_hash, late.ordinal_of(first))) return keys_.find(first.key_hash)->cause;
  return last_trouble_;
}

void partition_core::note_held_expiry() noexcept {
  held_expiry_.reset();
  const batch* before = open_.front();
  if (before == nullptr) return;
  for (const batch* at = batch_queue::after(*before); at != nullptr; at = batch_queue::after(*at)) {
    if (at->deadline() < before->deadline())
      held_expiry_ = std::min(held_expiry_.value_or(instant::max()), at->deadline());
    before = at;
  }
}

// The epoch's end

void partition_core::start_fencing() noexcept {
  lose_footing();
  if (numbering_ == numbering::usable) numbering_ = numbering::fencing;
}

void partition_core::bump_when_drained(instant now) {
  if (gate_ == gate::closed) return;
  if (outstanding_ == 0 && numbering_ == numbering::fencing) {
    unseal_survivors(now);
    ++epoch_bumps_;
    if (stamp_.exhausted() || new_id_wanted_ || settings_.new_producer_id_on_bump) {
      ask_for_producer_id();
    } else {
      stamp_ = planted(mutant::no_bump) ? producer_stamp(stamp_.id(), stamp_.epoch())
               : planted(mutant::bump_keeps_sequence)
                   ? producer_stamp(stamp_.id(), stamp_.bumped().epoch(), stamp_.next())
                   : stamp_.bumped();
      numbering_ = numbering::usable;
    }
  }
  fail_replaced();
  fail_followers();
  if (!recoveries_.empty()) carry_out_recoveries(now);
  fail_halted_resubmissions();
}

/// Batches whose every attempt is proven unwritten go back to the unsent ones, to be numbered under
/// the next epoch. Those before the last doubtful one may not: if that one was written after all,
/// they would overtake it. Nor those that an answer has ended already.
void partition_core::unseal_survivors(instant now) {
  const batch* last_doubtful = nullptr;
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at)) {
    if (planted(mutant::restamp_in_doubt) && !at->hopeless) at->attempts = {};
    if (at->state() == batch_state::delivered || may_be_written(*at) || contradicted(*at))
      last_doubtful = at;
  }
  if (last_doubtful != nullptr) fail_overtaken(*last_doubtful);
  bool older = last_doubtful != nullptr;
  batch_queue survivors;
  while (!unfinished_.empty()) {
    batch& next = *unfinished_.pop_front();
    const bool last = &next == last_doubtful;
    if (next.state() == batch_state::delivered) {
      complete_delivered(next);
    } else if (!older && is_blamed_in_part(next, now)) {
      fail_blamed(next);
    } else if (next.hopeless) {
      ledger_.abandoned(tuple_of(next));
      fail(next, facts_of_hopeless(next, now));
    } else if (older) {
      ledger_.abandoned(tuple_of(next));
      fail(next, {fate_of(next), client_errc::epoch_given_up, next.last_cause, limit::none,
                  next.attempts.attempts()});
    } else {
      survivors.push_back(next);
    }
    if (last) older = false;
  }
  std::vector<batch*> youngest_last;
  while (!survivors.empty()) youngest_last.push_back(survivors.pop_front());
  for (auto at = youngest_last.rbegin(); at != youngest_last.rend(); ++at) {
    ledger_.release_unwritten(tuple_of(**at));
    (*at)->enter(batch_state::sealed);
    tickets_unwritten(**at);
    if (drop_answered(**at)) open_.insert_by_order(**at);
  }
  // Of a resubmitted one the deadline is later than of what it lies before again.
  note_held_expiry();
}

/// What a failure handler had sent again comes too late: a younger batch was written, or may be.
void partition_core::fail_overtaken(const batch& younger) {
  while (!open_.empty() && open_.front()->renewed &&
         open_.front()->first_ordinal() < younger.first_ordinal()) {
    batch& next = *open_.pop_front();
    const bool closed = gate_ == gate::closed;
    end_failed(next, settings_.on_failure,
               {fate::not_written, closed ? client_errc::closed : client_errc::epoch_given_up,
                next.failure.code, closed ? limit::close_deadline : limit::none});
  }
}

batch_tuple partition_core::tuple_of(const batch& sent) noexcept {
  return {sent.tuple(), static_cast<std::int32_t>(sent.count()), sent.bytes().crc()};
}

}  // namespace partita::actors
