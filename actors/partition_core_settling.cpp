// Settling what is in doubt by reading the log: before a batch is sent again where the broker may
// have forgotten it (L10), and behind the tickets of records that were answered unknown.
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"
#include "actors/retry.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace partita::actors {
namespace {

/// No right to read, or a broker too old: that does not change from one moment to the next.
constexpr duration denial_holds_for = std::chrono::minutes(5);

/// Without a fence the log is worth a look now and then: it can only show that a record is there.
constexpr duration first_pause = std::chrono::seconds(1);
constexpr duration longest_pause = std::chrono::seconds(30);

bool denies(std::error_code reason) noexcept {
  return reason == client_errc::log_not_readable || reason == client_errc::unsupported_version;
}

/// 45, 47 or 59: the numbering that the broker remembers is not ours.
bool of_numbering(broker_errc code) noexcept {
  return code == broker_errc::out_of_order_sequence_number ||
         code == broker_errc::invalid_producer_epoch || code == broker_errc::unknown_producer_id;
}

/// Raised before the broker looks at the numbers, and lasting: the retry that would be recognised
/// does not get that far. Not a missing permission: it is missing for reading too.
bool blocks_retry(broker_errc code) noexcept {
  switch (code) {
    case broker_errc::message_too_large:
    case broker_errc::invalid_topic_exception:
    case broker_errc::record_list_too_large:
    case broker_errc::invalid_timestamp:
    case broker_errc::unsupported_for_message_format:
    case broker_errc::unsupported_compression_type:
    case broker_errc::invalid_record:
      return true;
    default:
      return false;
  }
}

/// The oldest of the targets tells where to begin; where nothing was acknowledged is not known, and
/// comes first.
void begin_before(log_question& question, offset from, const std::optional<log_anchor>& anchor) {
  if (question.from <= from) return;
  question.from = from;
  question.anchor = anchor;
}

}  // namespace

// Batches in doubt

/// After each attempt that did not deliver.
void partition_core::note_doubt(batch& sent, const attempt_note& note, instant now) {
  doubt_notes& doubt = sent.doubt;
  doubt.looked = false;
  doubt.patience = now + settings_.retry_backoff_max;
  if (note.end.stage == attempt_stage::sent) doubt.latecomer = true;
  if (note.end.stage == attempt_stage::sent || judge(note.end) == attempt_verdict::appended)
    doubt.doubted_at = doubt.asked;
  doubt.look = why_look::no_need;
  if (note.end.stage != attempt_stage::answered || !sent.attempts.doubted()) return;
  if (of_numbering(note.end.code) && &sent == unfinished_.front()) {
    doubt.look = why_look::refused;
  } else if (blocks_retry(note.end.code)) {
    doubt.look = why_look::blocked;
  }
}

/// What the old leader's log said does not hold for the new one.
void partition_core::note_new_leader(instant now) {
  abandon_look();
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at)) {
    at->doubt.looked = false;
    at->doubt.patience = now + settings_.retry_backoff_max;
  }
}

/// A blind retry could write it twice (L10 b, c). For other reasons a retry waits a moment only.
bool partition_core::must_look(const batch& sent) const {
  return sent.doubt.look == why_look::refused || back_dated(sent);
}

bool partition_core::waits_for_log(const batch& sent, instant now) const {
  const doubt_notes& doubt = sent.doubt;
  if (!settings_.idempotent || doubt.looked || sent.hopeless) return false;
  if (sent.state() != batch_state::awaiting_retry || !sent.attempts.doubted()) return false;
  if (must_look(sent)) return true;
  // Another leader than the one that may have written it need not know the producer (SEQ-20 b).
  const bool moved = doubt.doubted_at.known() && doubt.doubted_at != leader_;
  return (moved || doubt.look == why_look::blocked) && now < doubt.patience;
}

void partition_core::look_when_due(instant now) {
  book_.expire(now);
  if (gate_ == gate::closed || !settings_.idempotent || !leader_.known()) return;
  if (now < look_.not_before || (look_.running && !look_.for_tickets)) return;
  // What is on its way goes before what was answered already.
  if (!look_for_batches(now) && !look_.running) look_for_tickets(now);
}

/// All that is in doubt at once: what an older batch needs, a younger one can use.
bool partition_core::look_for_batches(instant now) {
  if (outstanding_ > 0) return false;
  bool wanted = false;
  log_question question;
  question.from = offset(std::numeric_limits<std::int64_t>::max());
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at)) {
    if (at->state() != batch_state::awaiting_retry || !at->attempts.doubted() || at->hopeless)
      continue;
    wanted = wanted || waits_for_log(*at, now);
    question.targets.push_back(
        {at->tuple(), static_cast<std::int32_t>(at->count()), at->max_timestamp()});
    begin_before(question, at->doubt.from, at->doubt.anchor);
  }
  if (!wanted) return false;
  if (now >= look_.denied_until) {
    ask_log(std::move(question), false);
    return true;
  }
  for (const log_target& each : question.targets)
    if (batch* sent = awaiting_with(each.stamp)) log_did_not_tell(*sent, look_.denied);
  finish_heads(now);
  bump_when_drained(now);
  return false;
}

void partition_core::ask_log(log_question question, bool for_tickets) {
  question.token = look_.asked.token + 1;
  question.epoch = leader_epoch_;
  look_.asked = std::move(question);
  look_.running = true;
  look_.for_tickets = for_tickets;
  effects_.look_into_log(look_.asked);
}

bool partition_core::looks_for(const batch& sent) const noexcept {
  const auto& targets = look_.asked.targets;
  return std::any_of(targets.begin(), targets.end(),
                     [&](const log_target& each) { return each.stamp == sent.tuple(); });
}

/// What comes of it is of a leader that is none any more.
void partition_core::abandon_look() noexcept {
  look_.running = false;
  look_.not_before = {};
  look_.failures = 0;
}

void partition_core::looked(const log_findings& findings, instant now) {
  PARTITA_VISIT(core_event::looked, state());
  if (!look_.running || findings.token != look_.asked.token || gate_ == gate::closed) return;
  now_ = now;
  look_.running = false;
  look_.failures = findings.end == search_end::interrupted ? look_.failures + 1 : 0;
  if (findings.end == search_end::interrupted) {
    look_.not_before = now + backoff_after({settings_.retry_backoff, settings_.retry_backoff_max},
                                           look_.failures, effects_.draw());
    effects_.refresh_metadata();
  }
  if (denies(findings.reason)) {
    look_.denied_until = now + denial_holds_for;
    look_.denied = findings.reason;
  }
  if (look_.for_tickets)
    take_ticket_findings(findings, now);
  else
    take_batch_findings(findings, now);
  finish_heads(now);
  bump_when_drained(now);
}

batch* partition_core::awaiting_with(const wire::batch_stamp& stamp) const noexcept {
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    if (at->state() == batch_state::awaiting_retry && at->tuple() == stamp) return at;
  return nullptr;
}

void partition_core::take_batch_findings(const log_findings& findings, instant now) {
  PARTITA_ASSERT(findings.found.size() == look_.asked.targets.size());
  for (std::size_t i = 0; i < findings.found.size(); ++i) {
    batch* sent = awaiting_with(look_.asked.targets[i].stamp);
    if (sent != nullptr && findings.found[i]) found_in_log(*sent, *findings.found[i]);
  }
  for (std::size_t i = 0; i < findings.found.size(); ++i) {
    batch* sent = awaiting_with(look_.asked.targets[i].stamp);
    if (sent == nullptr || findings.found[i]) continue;
    switch (findings.end) {
      case search_end::decided:
        not_in_log(*sent, absence_proves(sent->doubt.doubted_in, findings), now);
        break;
      case search_end::undecidable:
        log_did_not_tell(*sent, findings.reason);
        break;
      case search_end::interrupted:
        // The question stays open; only where reading is a must it also stays in the way.
        if (!must_look(*sent)) sent->doubt.looked = true;
        break;
    }
  }
}

void partition_core::found_in_log(batch& sent, const found_batch& where) {
  if (ledger_.settled(tuple_of(sent), where.base_offset) == ledger_answer::contradiction) {
    effects_.contradicted();
    sent.hopeless = attempt_note{attempt_end::answer_lost(), -1, client_errc::invariant_broken};
    return;
  }
  sent.acknowledged_offset = where.base_offset;
  sent.log_append_time_ms = where.log_append_time_ms;
  sent.enter(batch_state::delivered);
  note_delivery(sent);
}

/// What a leader's log does not hold may lie in the tail of a former one, which can lead again with
/// it as long as its followers have committed nothing of a younger epoch.
bool partition_core::absence_proves(leader_epoch doubted_in, const log_findings& findings) const {
  return findings.saw_epoch || doubted_in == look_.asked.epoch;
}

/// Absent from a leader's whole log. That proves something only if nothing can still be executed.
void partition_core::not_in_log(batch& sent, bool proves, instant now) {
  doubt_notes& doubt = sent.doubt;
  doubt.looked = true;
  if (doubt.latecomer || !proves) {
    // The same bytes and tuple once more (L2): a latecomer would be recognised, or refused. In its
    // own time: what was refused is looked for after each attempt, so a retry at once would have no
    // backoff at all (L8).
    return;
  }
  const why_look reason = std::exchange(doubt.look, why_look::no_need);
  sent.attempts.proven_unwritten();
  sent.doubted_before_last = false;
  switch (reason) {
    case why_look::refused:
      sent.retry_at = std::min(sent.retry_at, now);
      start_fencing();
      break;
    case why_look::blocked:
      sent.hopeless =
          attempt_note{attempt_end::answered(sent.last_code, offset()), -1, sent.last_cause};
      break;
    case why_look::no_need:
      sent.retry_at = std::min(sent.retry_at, now);
      break;
  }
}

void partition_core::log_did_not_tell(batch& sent, std::error_code reason) {
  sent.doubt.looked = true;
  if (!must_look(sent)) return;  // the retry tells
  sent.doubt.undecided = reason;
  sent.hopeless = attempt_note{attempt_end::answer_lost(), -1, sent.last_cause};
}

// Tickets

/// Records of it were answered unknown: all, or those that did not wait for its end. The others are
/// listed with them, so that a record's ticket tells its place.
void partition_core::keep_tickets(batch& told) {
  if (!settings_.idempotent || told.first_ticket == 0) return;
  const bool live = told.state() != batch_state::failed;
  const bool latecomer = told.doubt.latecomer || told.attempts.under_way();
  if (unknown_batch* known = tickets_of(told)) {
    known->live = live;
    known->latecomer = latecomer;
    known->doubted_in = told.doubt.doubted_in;
    return;
  }
  unknown_batch kept;
  kept.first_ticket = told.first_ticket;
  kept.target = {told.tuple(), static_cast<std::int32_t>(told.count()), told.max_timestamp()};
  kept.from = told.doubt.from;
  kept.anchor = told.doubt.anchor;
  kept.base_timestamp_ms = told.base_timestamp();
  kept.timestamp_deltas_ms.reserve(told.count());
  for (const completion_entry& each : told.entries())
    kept.timestamp_deltas_ms.push_back(each.timestamp_delta_ms);
  kept.live = live;
  kept.latecomer = latecomer;
  kept.doubted_in = told.doubt.doubted_in;
  kept.halted_by_it = !live && something_is_halted();
  kept.look_pause = first_pause;
  kept.look_at = now_ + first_pause;
  told.doubt.kept = true;
  book_.keep(std::move(kept), now_);
  // The log that could tell is gone, or going.
  if (was_replaced(told))
    book_.decide(book_.batches().back(),
                 {ticket_state::undecidable, {}, -1, client_errc::log_changed, {}});
}

/// Tickets that were dropped, while others of its records were still on their way, tell nobody
/// anything.
void partition_core::renew_forgotten_tickets(batch& about_to_be_told) {
  if (!about_to_be_told.doubt.kept || tickets_of(about_to_be_told) != nullptr) return;
  about_to_be_told.doubt.kept = false;
  about_to_be_told.first_ticket = 0;
}

/// It turned out that nothing of it was written, and it is not sent under these numbers any more.
void partition_core::tickets_unwritten(batch& sent) {
  if (!std::exchange(sent.doubt.kept, false)) return;
  book_.unwritten(sent.tuple());
  sent.first_ticket = 0;
}

void partition_core::settle_ticket(settle_command& command, instant now) {
  PARTITA_VISIT(core_event::settle_ticket, state());
  book_.ask(command, now);
}

bool partition_core::something_is_halted() const noexcept {
  return gate_ == gate::halted || !keys_.empty();
}

unknown_batch* partition_core::tickets_of(const batch& unknown) noexcept {
  return unknown.doubt.kept ? book_.find(unknown.first_ticket) : nullptr;
}

/// Before its records are recovered.
void partition_core::consult_tickets(batch& unknown) {
  const unknown_batch* known = tickets_of(unknown);
  if (known == nullptr || unknown.acknowledged_offset) return;
  const bool whole = known->count() == unknown.count();
  if (!whole) return;
  if (known->verdict.state == ticket_state::delivered)
    unknown.acknowledged_offset = known->verdict.base_offset;
  if (known->verdict.state == ticket_state::never_written) unknown.failure.fate = fate::not_written;
}

/// Somebody asked, or its partition is halted and can not go on in order before it is known.
bool partition_core::is_wanted(const unknown_batch& batch) const noexcept {
  if (batch.verdict.state != ticket_state::open || batch.live) return false;
  return !batch.waiting.empty() || (batch.halted_by_it && something_is_halted());
}

unknown_batch* partition_core::next_ticket_to_look_for(instant now) {
  unknown_batch* unfenced = nullptr;
  for (unknown_batch& each : book_.batches()) {
    if (!is_wanted(each)) continue;
    if (each.fence) return &each;
    if (unfenced == nullptr && each.look_at <= now) unfenced = &each;
  }
  return unfenced;
}

/// One fence at a time, or all that have none.
void partition_core::look_for_tickets(instant now) {
  if (!book_.wanted()) return;
  const unknown_batch* chosen = next_ticket_to_look_for(now);
  if (chosen == nullptr) return;
  if (now < look_.denied_until) {
    const ticket_verdict denied{ticket_state::undecidable, {}, -1, look_.denied, {}};
    for (unknown_batch& each : book_.batches())
      if (is_wanted(each)) book_.decide(each, denied);
    return;
  }
  constexpr std::size_t targets_max = 64;
  log_question question;
  question.fence = chosen->fence;
  question.targets.push_back(chosen->target);
  question.from = chosen->from;
  question.anchor = chosen->anchor;
  for (const unknown_batch& each : book_.batches()) {
    if (&each == chosen || each.verdict.state != ticket_state::open || each.live) continue;
    if (each.fence.has_value() != chosen->fence.has_value()) continue;
    if (each.fence && each.fence->stamp != chosen->fence->stamp) continue;
    question.targets.push_back(each.target);
    begin_before(question, each.from, each.anchor);
    if (question.targets.size() == targets_max) break;
  }
  ask_log(std::move(question), true);
}

void partition_core::take_ticket_findings(const log_findings& findings, instant now) {
  PARTITA_ASSERT(findings.found.size() == look_.asked.targets.size());
  const bool fenced = look_.asked.fence.has_value();
  for (unknown_batch& each : book_.batches()) {
    const auto asked =
        std::find_if(look_.asked.targets.begin(), look_.asked.targets.end(),
                     [&](const log_target& target) { return target.stamp == each.target.stamp; });
    if (asked == look_.asked.targets.end() || each.verdict.state != ticket_state::open) continue;
    const auto& found =
        findings.found[static_cast<std::size_t>(asked - look_.asked.targets.begin())];
    const bool absent = fenced || (!each.latecomer && absence_proves(each.doubted_in, findings));
    if (found) {
      book_.decide(each, {ticket_state::delivered, found->base_offset, found->log_append_time_ms});
    } else if (findings.end == search_end::undecidable) {
      book_.decide(each, {ticket_state::undecidable, {}, -1, findings.reason, findings.cause});
    } else if (findings.end == search_end::decided && absent) {
      book_.decide(each, {ticket_state::never_written});
    } else if (findings.end == search_end::decided && !each.fenceable) {
      book_.decide(each, {ticket_state::undecidable, {}, -1, client_errc::not_fenced, {}});
    } else {
      each.look_pause = std::min(longest_pause, 2 * each.look_pause);
      each.look_at = now + each.look_pause;
    }
  }
}

std::optional<instant> partition_core::next_look(instant now) const {
  std::optional<instant> next = book_.next_expiry();
  const auto consider = [&](instant at) { next = std::min(next.value_or(instant::max()), at); };
  if (look_.running || gate_ == gate::closed || !leader_.known()) return next;
  if (book_.wanted())
    for (const unknown_batch& each : book_.batches())
      if (is_wanted(each)) consider(std::max(each.fence ? now : each.look_at, look_.not_before));
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at)) {
    if (!waits_for_log(*at, now)) continue;
    if (outstanding_ == 0) consider(look_.not_before);
    if (!must_look(*at)) consider(at->doubt.patience);
  }
  return next;
}

}  // namespace partita::actors
