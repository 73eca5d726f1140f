// A topic that was deleted and created again under its name (KIP-516): what was open when the news
// came.
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"

#include <algorithm>

namespace partita::actors {

void partition_core::new_incarnation(instant now) {
  PARTITA_VISIT(core_event::new_incarnation, state());
  lose_footing();
  last_offset_ = {};
  anchor_ = {};
  ledger_.new_incarnation();
  book_.topic_replaced();
  // The new log does not recognise what the old one may have: no attempt of it as it is.
  for (batch_queue* queue : {&unfinished_, &failed_})
    for (batch* at = queue->front(); at != nullptr; at = batch_queue::after(*at))
      at->forgotten = true;
  if (gate_ == gate::closed || (unfinished_.empty() && open_.empty() && held_.empty())) return;
  // A place of its own in the order, so that what was resubmitted last is on this side of it too.
  replaced_before_ = ++next_ordinal_;
  joined_from_ = next_ordinal_;  // the records that come now are meant for the new log
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    if (at->state() == batch_state::awaiting_retry && !at->hopeless)
      at->hopeless = attempt_note{attempt_end::answer_lost(), -1, client_errc::topic_replaced};
  // An attempt that is under way has its say first: the old log may have taken it.
  finish_heads(now);
  bump_when_drained(now);
}

bool partition_core::was_replaced(const batch& candidate) const noexcept {
  return std::max(candidate.first_ordinal(), candidate.submission) < replaced_before_;
}

/// What was never sent, or is proven unwritten, fails behind what was under way, in order.
void partition_core::fail_replaced() {
  if (outstanding_ > 0 || !unfinished_.empty()) return;
  for (batch_queue* queue : {&open_, &held_}) {
    while (!queue->empty() && was_replaced(*queue->front())) {
      batch& next = *queue->pop_front();
      fail(next, {fate::not_written, client_errc::topic_replaced, next.last_cause, limit::none,
                  next.attempts.attempts()});
    }
  }
}

}  // namespace partita::actors
