// What the end of an attempt means for its batch.
#include "actors/partition_core.hpp"

#include "actors/retry.hpp"
#include "actors/core_visits.hpp"
#include "wire/mutant.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::actors {
namespace {

/// Nothing more is decided about it for now, but recover() may have it sent again.
void note_end_of_given_up(batch& sent, const attempt_note& note) noexcept {
  if (note.end.stage == attempt_stage::sent) sent.doubt.latecomer = true;
  if (sent.attempts.doubted()) sent.doubt.doubted_at = sent.doubt.asked;
}

/// For mutant::success_is_inferred.
[[maybe_unused]] void infer_success(batch* at, const batch& later) {
  for (; at != &later && at != nullptr; at = batch_queue::after(*at)) {
    if (at->state() != batch_state::awaiting_retry) continue;
    at->enter(batch_state::in_flight);
    at->enter(batch_state::delivered);
  }
}

}  // namespace

void partition_core::never_answered(batch& sent, instant now) {
  now_ = now;
  // acks=0: what was handed over stays in doubt by design.
  PARTITA_ASSERT(settings_.required_acks == acks::none);
  attempt_over(sent, attempt_verdict::unknown);
  if (sent.state() == batch_state::failed) return release_if_orphaned(sent);
  PARTITA_ASSERT(&sent == unfinished_.front());
  unfinished_.pop_front();
  sent.enter(batch_state::failed);
  answer_failed(
      sent,
      {fate::unknown, client_errc::no_acknowledgement, {}, limit::none, sent.attempts.attempts()});
  effects_.release_budget(sent.cost());
  dispose(&sent);
  bump_when_drained(now);
}

void partition_core::attempt_over(batch& sent, attempt_verdict verdict) {
  PARTITA_ASSERT(outstanding_ > 0, outstanding_);
  sent.attempts.ended(verdict);
  --outstanding_;
}

void partition_core::release_if_orphaned(batch& sent) {
  if (sent.orphaned) effects_.free_batch(&sent);
}

void partition_core::answered(batch& sent, const attempt_answer& answer, instant now) {
  const attempt_note note{attempt_end::answered(answer.code, answer.base_offset),
                          answer.log_append_time_ms, answer.code};
  attempt_verdict verdict = judge(note.end);
  PARTITA_VISIT(event_of(verdict), state());
  if (sent.state() == batch_state::failed && verdict == attempt_verdict::delivered &&
      is_impossible(sent, note.end)) {
    // Too late to be told as such, but no reason to call it delivered, or to try it as it is.
    effects_.contradicted();
    verdict = attempt_verdict::unknown;
    sent.forgotten = true;
  }
  attempt_over(sent, verdict);
  now_ = now;
  if (planted(mutant::completes_twice) && sent.state() == batch_state::failed && !sent.empty())
    if (verdict == attempt_verdict::delivered) effects_.complete_delivered(sent);
  if (sent.state() == batch_state::failed) {
    // It was given up before; its promise was answered then. recover() wants to know all the same.
    note_end_of_given_up(sent, note);
    if (verdict == attempt_verdict::delivered) {
      sent.acknowledged_offset =
          delivered_offset(answer.code, answer.base_offset).value_or(offset());
      accept_too_late(sent, note);
    } else {
      refuse_too_late(sent);
    }
    release_if_orphaned(sent);
  } else if (verdict == attempt_verdict::delivered) {
    accept(sent, note, now);
  } else {
    decide(sent, note, now);
  }
  finish_heads(now);
  bump_when_drained(now);
}

void partition_core::attempt_lost(batch& sent, bool handed_over, std::error_code cause,
                                  instant now) {
  const attempt_note note{handed_over ? attempt_end::answer_lost() : attempt_end::not_sent(), -1,
                          cause};
  PARTITA_VISIT(core_event::lost, state());
  attempt_over(sent, judge(note.end));
  now_ = now;
  lose_footing();
  if (sent.state() == batch_state::failed) {
    note_end_of_given_up(sent, note);
    refuse_too_late(sent);
    release_if_orphaned(sent);
  } else {
    decide(sent, note, now);
  }
  finish_heads(now);
  bump_when_drained(now);
}

/// A success at a place that no log has (ODD-04; only -1 says that the broker does not know it), or
/// that contradicts the order of sending (L9).
bool partition_core::is_impossible(const batch& sent, const attempt_end& success) {
  if (success.base_offset.value < -1) return true;
  const offset at = delivered_offset(success.code, success.base_offset).value_or(offset());
  return settings_.idempotent &&
         ledger_.settled(tuple_of(sent), at) == ledger_answer::contradiction;
}

void partition_core::accept(batch& sent, const attempt_note& note, instant now) {
  if (is_impossible(sent, note.end)) {
    effects_.contradicted();
    sent.enter(batch_state::awaiting_retry);
    sent.hopeless = attempt_note{attempt_end::answer_lost(), -1, client_errc::invariant_broken};
    return;
  }
  settings_.fitting->taken(sent.size());
  sent.acknowledged_offset = delivered_offset(note.end.code, note.end.base_offset);
  // A deduplicated retry is answered with the stored batch's largest timestamp, on CreateTime
  // topics too (DEDUP-04): it is the records' own, not the broker's.
  const bool own_time =
      sent.attempts.attempts() > 1 && note.log_append_time_ms == sent.max_timestamp();
  sent.log_append_time_ms = own_time ? -1 : note.log_append_time_ms;
  if (planted(mutant::success_is_inferred)) infer_success(unfinished_.front(), sent);
  sent.enter(batch_state::delivered);
  // A retry under an old epoch says nothing about the next one (L10 a). Nor does what lies far back
  // (L10 c).
  if (sent.footing == footing_ && (!settings_.idempotent || sent.tuple().epoch == stamp_.epoch())) {
    established_ = !back_dated(sent);
    last_success_ = now;
  }
  // What comes next fails for another reason. Not while something older is still in trouble.
  if (&sent == unfinished_.front()) last_trouble_ = {};
  note_delivery(sent);
}

/// What follows for the partition from a delivery, by an answer or by the log.
void partition_core::note_delivery(const batch& sent) {
  // Of records that were cancelled while it was sent.
  if (sent.doubt.kept)
    book_.written(sent.tuple(), sent.acknowledged_offset.value_or(offset()),
                  sent.log_append_time_ms);
  if (!sent.acknowledged_offset) return;
  const offset at = *sent.acknowledged_offset;
  const offset last(at.value + static_cast<std::int64_t>(sent.count()) - 1);
  if (last > last_offset_) {
    last_offset_ = last;
    anchor_ = log_anchor{sent.tuple(), at};
  }
  book_.fence_by(sent.tuple(), at);
}

/// Its records were answered unknown before; their tickets are settled by this.
void partition_core::accept_too_late(const batch& sent, const attempt_note& note) {
  if (!sent.doubt.kept) return;
  const offset at = delivered_offset(note.end.code, note.end.base_offset).value_or(offset());
  const bool own_time =
      sent.attempts.attempts() > 1 && note.log_append_time_ms == sent.max_timestamp();
  book_.written(sent.tuple(), at, own_time ? -1 : note.log_append_time_ms);
}

/// The attempt that made its fate unknown wrote nothing after all, and there is no other.
void partition_core::refuse_too_late(const batch& sent) {
  if (sent.doubt.kept && !sent.attempts.doubted()) book_.unwritten(sent.tuple());
}

void partition_core::decide(batch& sent, const attempt_note& note, instant now) {
  const bool first_of_its_kind =
      note.end.stage != attempt_stage::answered || note.end.code != sent.last_code;
  sent.same_code_repeats = first_of_its_kind ? 1 : sent.same_code_repeats + 1;
  sent.last_code = note.end.stage == attempt_stage::answered ? note.end.code : broker_errc::none;
  sent.last_cause = note.cause;
  last_error_ = last_trouble_ = note.cause;

  retry_situation at;
  at.end = note.end;
  at.earlier_doubt = sent.doubted_before_last;
  at.attempts = sent.attempts.attempts();
  at.repeats = sent.same_code_repeats;
  at.record_count = static_cast<std::int32_t>(sent.count());
  at.idempotent = settings_.idempotent;
  at.predecessor_unfinished = &sent != unfinished_.front();
  at.back_dated = back_dated(sent);
  at.newer_leader_known =
      leader_.known() && (sent.sent_to != leader_ || sent.sent_in < leader_epoch_);
  at.now = now;
  at.deadline = sent.deadline();
  at.draw = effects_.draw();
  sent.doubted_before_last = sent.attempts.doubted();
  const retry_decision decision = decide_retry(
      {settings_.retry_backoff, settings_.retry_backoff_max, settings_.attempts_max}, at);

  sent.enter(batch_state::awaiting_retry);
  sent.retry_at = now + decision.delay;
  note_doubt(sent, note, now);
  if (was_replaced(sent)) {
    sent.hopeless = attempt_note{note.end, -1, client_errc::topic_replaced};
    return;
  }
  // Another attempt as it is may write it twice (L10 b, c): recover() does not ask for one.
  if (decision.read_log_first) sent.forgotten = true;
  if (decision.read_log_first && planted(mutant::renumber_in_doubt)) {
    sent.attempts = {};
    return start_fencing();
  }
  if (decision.refresh_metadata) effects_.refresh_metadata();
  if (decision.new_producer_id) new_id_wanted_ = true;
  switch (decision.action) {
    case retry_action::retry:
    case retry_action::wait_for_predecessor:
      break;
    case retry_action::bump_and_resend:
      start_fencing();
      break;
    case retry_action::split:
      settings_.fitting->refused(sent.size());
      sent.too_large = true;
      free_for_cutting(sent);
      break;
    case retry_action::give_up:
      note_single_too_large(sent, now);
      sent.hopeless = note;
      break;
  }
}

void partition_core::finish_heads(instant now) {
  while (!unfinished_.empty()) {
    batch& head = *unfinished_.front();
    if (head.state() == batch_state::delivered) {
      unfinished_.pop_front();
      complete_delivered(head);
    } else if (is_blamed_in_part(head, now)) {
      unfinished_.pop_front();
      fail_blamed(head);
    } else if (head.hopeless) {
      give_up(head, facts_of_hopeless(head, now));
    } else {
      return;
    }
  }
}

void partition_core::complete_delivered(batch& done) {
  fail_overtaken(done);
  answered_.delivered += done.unanswered();
  unanswered_ -= done.unanswered();
  effects_.complete_delivered(done);
  count_answers(done, tally_kind::delivered);
  effects_.release_budget(done.cost());
  dispose(&done);
}

void partition_core::dispose(batch* finished) {
  if (finished->attempts.under_way() && !planted(mutant::freed_under_way))
    finished->orphaned = true;
  else
    effects_.free_batch(finished);
}

}  // namespace partita::actors
