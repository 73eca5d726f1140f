// A log that begins anew: that of a topic that was deleted and created again under its name
// (KIP-516), and what was open when the news came; and one that lost acknowledged records.
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"

#include <algorithm>

namespace partita::actors {

/// Nothing that was learned of the old log holds for the new one.
void partition_core::forget_log() {
  lose_footing();
  last_offset_ = {};
  anchor_ = {};
  contradiction_told_ = false;
  book_.log_changed();
  // The new log need not recognise what the old one may have: no attempt of it as it is.
  for (batch_queue* queue : {&unfinished_, &failed_})
    for (batch* at = queue->front(); at != nullptr; at = batch_queue::after(*at))
      at->forgotten = true;
}

void partition_core::new_incarnation(instant now) {
  PARTITA_VISIT(core_event::new_incarnation, state());
  forget_log();
  ledger_.new_incarnation();
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

/// By recover() the application says that the log that contradicted what it held before is the one
/// to go on with. No attempt is under way: what was sent before was judged by the old log.
void partition_core::go_on_with_other_log() {
  forget_log();
  ledger_.begin_anew();
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
