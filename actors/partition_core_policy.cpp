// What a failed record does to those behind it: the handler's verdict or the policy, then the halt,
// then the records' own callbacks (L6).
#include "actors/partition_core.hpp"

#include "actors/record_node.hpp"
#include "wire/mutant.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::actors {
namespace {

/// What was answered by itself halts nothing.
bool has_keys(const batch& what) noexcept {
  return std::any_of(
      what.entries().begin(), what.entries().end(),
      [](const completion_entry& each) { return each.key_hash != 0 && !each.answered; });
}

/// L9, and a log that begins anew: whatever the policy.
bool must_halt(const failure_facts& facts) noexcept {
  return facts.code == client_errc::invariant_broken || facts.code == client_errc::topic_replaced;
}

}  // namespace

void partition_core::fail(batch& victim, const failure_facts& facts) {
  last_error_ = facts.code;
  victim.failure = facts;
  std::optional<failure_policy> policy = settings_.on_failure;
  if (settings_.has_failure_handler && gate_ != gate::closed && !must_halt(facts) &&
      victim.unanswered() > 0)
    policy = judge_failure(
        {&victim, nullptr, facts, victim.first_ordinal(), batches_behind(victim.first_ordinal())});
  if (!policy) return send_again(victim);
  end_failed(victim, *policy, facts);
}

/// Policy first, then the records' own callbacks: when they run, the halt is in force (L6).
void partition_core::end_failed(batch& victim, failure_policy policy, const failure_facts& facts) {
  if (facts.fate == fate::unknown) fail_overtaken(victim);
  if (must_halt(facts)) policy = failure_policy::halt_partition;
  victim.failure = facts;
  victim.enter(batch_state::failed);
  // A caller's own cancellation does not halt, whatever becomes of the batch later.
  std::vector<std::size_t> waited_for;
  for (std::size_t i = 0; i < victim.count(); ++i)
    if (!victim.entries()[i].answered) waited_for.push_back(i);
  const bool somebody_waits = !waited_for.empty();
  if (somebody_waits) apply_policy(policy, victim, waited_for, facts);
  if (somebody_waits && facts.code == client_errc::invariant_broken)
    contradiction_told_ = gate_ == gate::halted;
  answer_failed(victim, facts);
  keep_or_free(victim, policy, somebody_waits);
}

void partition_core::apply_policy(failure_policy policy, const batch& victim,
                                  const std::vector<std::size_t>& which,
                                  const failure_facts& facts) {
  if (gate_ == gate::closed) return;
  if (planted(mutant::no_halt_on_timeout) && facts.ended_by == limit::delivery_timeout) return;
  switch (policy) {
    case failure_policy::skip:
      break;
    case failure_policy::halt_partition:
      halt_after(victim.ordinal_of(which.front()), facts.code);
      break;
    case failure_policy::halt_key:
      halt_keys_of(victim, which, facts);
      break;
    case failure_policy::fail_following:
      following_before_ = next_ordinal_;
      following_cause_ = facts.code;
      joined_from_ = next_ordinal_;
      break;
  }
}

/// Its bytes stay within the budget until recover(), if something waits for that.
void partition_core::keep_or_free(batch& victim, failure_policy policy, bool somebody_waited) {
  const bool with_all = (somebody_waited && gate_ == gate::halted) ||
                        recovery_of_all(victim.first_ordinal()) != nullptr;
  bool with_keys = somebody_waited && policy == failure_policy::halt_key && has_keys(victim);
  for (const completion_entry& each : victim.entries())
    with_keys = with_keys || (each.key_hash != 0 &&
                              recovery_of_key(victim.ordinal_of(each), each.key_hash) != nullptr);
  if (gate_ == gate::closed || !(with_all || with_keys)) {
    effects_.release_budget(victim.cost());
    return dispose(&victim);
  }
  joined_from_ = next_ordinal_;  // it may be sent again, before what comes now
  victim.keyed_only = !with_all;
  kept_bytes_ += victim.cost();
  failed_.insert_by_order(victim);
}

/// A record that was never buffered. False: the handler wants it buffered after all.
bool partition_core::fail_unbuffered(const record_node& node, const failure_facts& facts) {
  last_error_ = facts.code;
  std::optional<failure_policy> policy = settings_.on_failure;
  if (settings_.has_failure_handler)
    policy = judge_failure({nullptr, &node, facts, next_ordinal_, {}});
  if (!policy) return false;
  // Nothing lies behind it yet, so fail_following has nothing to do.
  if (*policy == failure_policy::halt_partition) halt_after(next_ordinal_, facts.code);
  if (*policy == failure_policy::halt_key && gate_ != gate::halted) halt_key_of(node, facts);
  refuse(node, facts);
  return true;
}

/// None: it is sent again.
std::optional<failure_policy> partition_core::judge_failure(const failure_case& what) {
  switch (effects_.judge_failure(what)) {
    case failure_verdict::use_policy:
      return settings_.on_failure;
    case failure_verdict::skip:
      return failure_policy::skip;
    case failure_verdict::halt_key:
      return failure_policy::halt_key;
    case failure_verdict::halt_partition:
      return failure_policy::halt_partition;
    case failure_verdict::fail_following:
      return failure_policy::fail_following;
    case failure_verdict::retry:
      // What may be written is never sent under other numbers (L1), and what was refused here was
      // not kept.
      if (what.facts.fate == fate::not_written &&
          (what.failed != nullptr || what.refused->flags == 0))
        return std::nullopt;
      break;
  }
  effects_.verdict_was_impossible();
  return settings_.on_failure;
}

std::vector<const batch*> partition_core::batches_behind(std::uint64_t ordinal) const {
  std::vector<const batch*> behind;
  for (const batch_queue* queue : {&unfinished_, &open_, &held_})
    for (const batch* at = queue->front(); at != nullptr; at = batch_queue::after(*at))
      if (at->last_ordinal() > ordinal) behind.push_back(at);
  std::stable_sort(behind.begin(), behind.end(), [](const batch* a, const batch* b) {
    return a->first_ordinal() < b->first_ordinal();
  });
  return behind;
}

/// Nothing of it was written: back to the front, numbered anew when it is sent.
void partition_core::send_again(batch& victim) {
  PARTITA_ASSERT(!victim.attempts.in_doubt() && !victim.attempts.under_way());
  const instant deadline = now_ + settings_.delivery_timeout;
  tickets_unwritten(victim);
  victim.renew(deadline);
  const bool somebody_waits = drop_answered(victim);
  PARTITA_ASSERT(somebody_waits, victim.count());
  victim.retry_at = now_ + settings_.retry_backoff;
  victim.swept = 0;  // its key may be halted
  newest_deadline_ = std::max(newest_deadline_, deadline);
  open_.insert_by_order(victim);
  note_held_expiry();
  if (own_deadlines_) find_early_expiry();
}

/// What a recovery that waits for the fence will collect must not halt the partition again. What
/// was produced behind it is held all the same.
void partition_core::halt_after(std::uint64_t ordinal, std::error_code cause) {
  if (planted(mutant::halt_is_late)) ordinal = next_ordinal_;
  if (waiting_recovery* asked = recovery_of_all(ordinal))
    asked->held_from = std::min(asked->held_from, ordinal);
  else
    halt(ordinal, cause);
}

void partition_core::halt(std::uint64_t ordinal, std::error_code cause) {
  if (gate_ == gate::halted) {
    halt_ordinal_ = std::min(halt_ordinal_, ordinal);
    return separate_at(halt_ordinal_);
  }
  gate_ = gate::halted;
  halt_ordinal_ = ordinal;
  halt_cause_ = cause;
  joined_from_ = next_ordinal_;
  ++halts_;
  separate_at(ordinal);
  effects_.halted(cause, {});
}

/// fail_following: what was buffered behind a failure, once all of it is unsent again.
void partition_core::fail_followers() {
  if (following_before_ == 0 || numbering_ == numbering::fencing) return;
  const failure_facts facts{fate::not_written, client_errc::earlier_failed, following_cause_};
  const std::uint64_t before = std::exchange(following_before_, 0);
  while (!open_.empty() && open_.front()->first_ordinal() < before) {
    batch& next = *open_.pop_front();
    failure_facts own = facts;
    own.attempts = next.attempts.attempts();
    end_failed(next, failure_policy::skip, own);
  }
}

}  // namespace partita::actors
