// Records that end by themselves: cancelled by their callers, or at a deadline of their own. No
// neighbour in the batch notices.
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"
#include "wire/mutant.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace partita::actors {
namespace {

/// Which of the batch's records are asked for, in order. Those found leave `asked`.
std::vector<std::size_t> take_asked(const batch& from, std::vector<cancel_request>& asked) {
  std::vector<std::size_t> found;
  std::erase_if(asked, [&](const cancel_request& each) {
    const std::size_t index = from.index_of(each.ordinal);
    if (index == from.count()) return false;
    const completion_entry& entry = from.entries()[index];
    if (entry.answered || entry.target != each.who) return false;
    found.push_back(index);
    return true;
  });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

/// Takes the records out of a batch that has no tuple in use. The whole batch, if nothing remains:
/// then it must have left its queue.
batch& partition_core::take_out(batch& from, const std::vector<std::size_t>& positions) {
  if (positions.size() == from.count()) return from;
  batch& taken = *effects_.new_batch();
  from.extract(
      [&](std::size_t index, const completion_entry&) {
        return std::binary_search(positions.begin(), positions.end(), index);
      },
      taken);
  return taken;
}

// Cancelling

void partition_core::cancel_unsent(std::vector<cancel_request>& asked) {
  PARTITA_VISIT(core_event::cancel, state());
  std::vector<batch*> victims;
  for (batch_queue* queue : {&open_, &held_}) {
    batch_queue kept;
    while (!queue->empty()) {
      batch& next = *queue->pop_front();
      const std::vector<std::size_t> found = take_asked(next, asked);
      batch* victim = found.empty() ? nullptr : &take_out(next, found);
      if (victim != &next) kept.insert_by_order(next);
      if (victim != nullptr) victims.push_back(victim);
    }
    while (!kept.empty()) queue->push_back(*kept.pop_front());
  }
  // A caller's own cancellation does not halt.
  for (batch* victim : victims) {
    victim->enter(batch_state::failed);
    answer_failed(*victim, {fate::not_written, client_errc::cancelled, victim->last_cause,
                            limit::none, victim->attempts.attempts()});
    effects_.release_budget(victim->cost());
    dispose(victim);
  }
}

void partition_core::cancel_sent(std::vector<cancel_request>& asked) {
  std::vector<std::pair<batch*, std::vector<std::size_t>>> found;
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at)) {
    // An answer that was read decides, and it comes next.
    if (at->returning || at->state() == batch_state::delivered) continue;
    std::vector<std::size_t> positions = take_asked(*at, asked);
    if (!positions.empty()) found.emplace_back(at, std::move(positions));
  }
  for (const auto& [sent, positions] : found)
    answer_early(*sent, positions,
                 {fate::unknown, client_errc::cancelled, sent->last_cause, limit::none,
                  sent->attempts.attempts()});
  if (batch* head = unfinished_.front(); planted(mutant::reuse_tuple) && head != nullptr)
    if (head->unanswered() == 0 && head->state() == batch_state::awaiting_retry)
      give_up(*head, {fate::unknown, client_errc::cancelled, head->last_cause});
}

/// The records of a sent batch get their answers before it has one; it goes on.
void partition_core::answer_early(batch& sent, const std::vector<std::size_t>& positions,
                                  const failure_facts& facts) {
  std::vector<completion_entry> told;
  told.reserve(positions.size());
  for (const std::size_t index : positions) {
    told.push_back(sent.entries()[index]);
    for (flush_barrier* barrier : barriers_) {
      const std::uint64_t from = sent.submission != 0 ? sent.submission : sent.ordinal_of(index);
      if (from >= barrier->ordinal) continue;
      add(barrier->answered, tally_kind::unknown, 1);
      --barrier->left;
    }
  }
  sent.mark_answered(positions);
  unanswered_ -= positions.size();
  answered_.unknown += positions.size();
  renew_forgotten_tickets(sent);
  effects_.complete_early(sent, told, facts);
  keep_tickets(sent);
  finish_barriers();
}

void partition_core::tell_delivered(batch& done) {
  answered_.delivered += done.unanswered();
  unanswered_ -= done.unanswered();
  effects_.complete_delivered(done);
  count_answers(done, tally_kind::delivered);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < done.count(); ++i)
    if (!done.entries()[i].answered) all.push_back(i);
  done.mark_answered(all);
}

/// What was answered by itself is not sent again under another tuple, nor kept for recover().
/// False: nothing is left, and the batch is gone.
bool partition_core::drop_answered(batch& kept) {
  if (kept.answered_count() == 0) return true;
  if (kept.answered_count() < kept.count()) {
    batch& answered = *effects_.new_batch();
    kept.extract([](std::size_t, const completion_entry& each) { return each.answered; }, answered);
    effects_.release_budget(answered.cost());
    effects_.free_batch(&answered);
    return true;
  }
  effects_.release_budget(kept.cost());
  dispose(&kept);
  return false;
}

// Deadlines of their own

/// Batches whose records all have the partition's deadline end in order, by their fronts. Once one
/// has a deadline of its own, every record behind it may have to end before an older one.
void partition_core::note_deadline(bool own, instant deadline) noexcept {
  if (!own && !own_deadlines_) return;
  if (!std::exchange(own_deadlines_, true)) return find_early_expiry();
  early_expiry_ = std::min(early_expiry_.value_or(instant::max()), deadline);
}

void partition_core::find_early_expiry() noexcept {
  early_expiry_.reset();
  if (unanswered_ == 0) own_deadlines_ = false;
  if (!own_deadlines_) return;
  for (const batch_queue* queue : {&unfinished_, &open_})
    for (const batch* at = queue->front(); at != nullptr; at = batch_queue::after(*at))
      if (at->first_deadline() != instant::max())
        early_expiry_ = std::min(early_expiry_.value_or(instant::max()), at->first_deadline());
}

/// Takes out what has expired, in batches without gaps: recover() puts each back in its place.
void partition_core::part_expired(batch& whole, instant now, batch_queue& kept,
                                  std::vector<batch*>& expired) {
  batch* rest = &whole;
  for (;;) {
    const std::vector<std::size_t> late = rest->expired(now);
    if (late.empty()) return kept.insert_by_order(*rest);
    std::size_t run = late.front();
    const bool in_time = run > 0;
    while (!in_time && run < late.size() && late[run] == run) ++run;
    if (run == rest->count()) return expired.push_back(rest);
    batch& front = *effects_.new_batch();
    rest->split_front(run, front);
    if (in_time)
      kept.insert_by_order(front);
    else
      expired.push_back(&front);
  }
}

void partition_core::expire_early(instant now) {
  if (!early_expiry_ || *early_expiry_ > now) return;
  std::vector<batch*> expired;
  batch_queue kept;
  while (!open_.empty()) part_expired(*open_.pop_front(), now, kept, expired);
  while (!kept.empty()) open_.push_back(*kept.pop_front());
  std::vector<batch*> sent;
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    if (!at->returning && at->first_deadline() <= now) sent.push_back(at);
  // What may be written lies before what was never sent.
  for (batch* each : sent) {
    if (each->state() == batch_state::delivered) {
      tell_delivered(*each);  // it waited for an older batch's answer only
      continue;
    }
    const failure_facts facts{fate::unknown, client_errc::delivery_timeout, each->last_cause,
                              limit::delivery_timeout, each->attempts.attempts()};
    const std::vector<std::size_t> late = each->expired(now);
    apply_policy(settings_.on_failure, *each, late, facts);
    answer_early(*each, late, facts);
  }
  for (batch* each : expired)
    fail(*each, {fate::not_written, client_errc::delivery_timeout, cause_of(*each),
                 limit::delivery_timeout, each->attempts.attempts()});
  find_early_expiry();
}

}  // namespace partita::actors
