// What a failure does to its partition: policy, fencing, expiry. Recovery is in
// partition_core_recovery.cpp.
#include "actors/partition_core.hpp"

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

}  // namespace

// Failing

fate partition_core::fate_of(const batch& sent) noexcept {
  return may_be_written(sent) || contradicted(sent) ? fate::unknown : fate::not_written;
}

void partition_core::answer_failed(batch& done, const failure_facts& facts) {
  (facts.fate == fate::unknown ? answered_.unknown : answered_.not_written) += done.unanswered();
  unanswered_ -= done.unanswered();
  effects_.complete_failed(done, facts);
  count_answers(done, facts.fate == fate::unknown ? tally_kind::unknown : tally_kind::not_written);
}

/// Policy first, then the records' own callbacks: when they run, the halt is in force (L6).
void partition_core::fail(batch& victim, const failure_facts& facts) {
  last_error_ = facts.code;
  victim.failure = facts;
  victim.enter(batch_state::failed);
  // A caller's own cancellation does not halt, whatever becomes of the batch later.
  const bool somebody_waits = victim.unanswered() > 0;
  if (somebody_waits) apply_policy(victim.first_ordinal(), facts);
  answer_failed(victim, facts);
  if ((somebody_waits && gate_ == gate::halted) || will_be_recovered(victim.first_ordinal())) {
    failed_.insert_by_order(victim);  // its bytes stay within the budget until recover()
  } else {
    effects_.release_budget(victim.cost());
    dispose(&victim);
  }
}

void partition_core::apply_policy(std::uint64_t ordinal, const failure_facts& facts) {
  // L9, and a log that begins anew: whatever the policy.
  const bool must_halt =
      facts.code == client_errc::invariant_broken || facts.code == client_errc::topic_replaced;
  if (!must_halt && settings_.on_failure != failure_policy::halt_partition) return;
  if (gate_ == gate::closed) return;
  // What a recovery that waits for the fence will collect must not halt the partition again. What
  // was produced behind it is held all the same.
  if (will_be_recovered(ordinal)) {
    recoveries_.back().held_from = std::min(recoveries_.back().held_from, ordinal);
    return;
  }
  halt(ordinal, facts.code);
}

void partition_core::halt(std::uint64_t ordinal, std::error_code cause) {
  if (gate_ == gate::halted) {
    halt_ordinal_ = std::min(halt_ordinal_, ordinal);
    return separate_at(halt_ordinal_);
  }
  gate_ = gate::halted;
  halt_ordinal_ = ordinal;
  halt_cause_ = cause;
  separate_at(ordinal);
  effects_.halted(cause);
}

failure_facts partition_core::facts_of_hopeless(const batch& head, instant now) const {
  const int attempts = head.attempts.attempts();
  // A contradiction halts whatever the policy, so no deadline may hide it.
  if (contradicted(head))
    return {fate::unknown, client_errc::invariant_broken, head.last_cause, limit::none, attempts};
  const std::error_code cause = head.hopeless->cause;
  if (head.deadline() <= now)
    return {fate_of(head), client_errc::delivery_timeout, cause, limit::delivery_timeout, attempts};
  return {fate_of(head), cause, cause, limit::none, attempts, detail_of(head)};
}

/// The oldest batch ends here. If it was ever sent its tuple is spent, so the epoch ends with it.
void partition_core::give_up(batch& head, const failure_facts& facts) {
  PARTITA_ASSERT(&head == unfinished_.front());
  unfinished_.pop_front();
  if (settings_.idempotent) ledger_.abandoned(tuple_of(head));
  start_fencing();
  fail(head, facts);
}

void partition_core::timer_fired(instant now) {
  while (!unfinished_.empty() && unfinished_.front()->deadline() <= now) {
    batch& head = *unfinished_.front();
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
  bump_when_drained(now);
}

void partition_core::expire_unsent(instant now) {
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
    front->split_front(expired, *part);
    front = part;
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
  return late.attempts.attempts() == 0 ? last_error_ : late.last_cause;
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
  if (outstanding_ > 0 || gate_ == gate::closed) return;
  if (numbering_ == numbering::fencing) {
    unseal_survivors(now);
    ++epoch_bumps_;
    if (stamp_.exhausted() || new_id_wanted_ || settings_.new_producer_id_on_bump) {
      ask_for_producer_id();
    } else {
      stamp_ = stamp_.bumped();
      numbering_ = numbering::usable;
    }
  }
  fail_replaced();
  if (!recoveries_.empty()) carry_out_recoveries(now);
}

/// Batches whose every attempt is proven unwritten go back to the unsent ones, to be numbered under
/// the next epoch. Those before the last doubtful one may not: if that one was written after all,
/// they would overtake it. Nor those that an answer has ended already.
void partition_core::unseal_survivors(instant now) {
  const batch* last_doubtful = nullptr;
  for (const batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    if (at->state() == batch_state::delivered || may_be_written(*at) || contradicted(*at))
      last_doubtful = at;
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
    if (drop_answered(**at)) open_.insert_by_order(**at);
  }
}

batch_tuple partition_core::tuple_of(const batch& sent) noexcept {
  return {sent.tuple(), static_cast<std::int32_t>(sent.count()), sent.bytes().crc()};
}

}  // namespace partita::actors
