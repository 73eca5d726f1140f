// Cancellations on their way to the core: those of records that were not sent act in the order of
// commands, the others when the turn ends, so that an answer of the same turn wins.
#include "actors/partition_actor.hpp"

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

std::vector<cancel_request> requests_for(const std::vector<tracked_record*>& records) {
  std::vector<cancel_request> asked;
  asked.reserve(records.size());
  for (const tracked_record* each : records) asked.push_back({each, *each->ordinal()});
  return asked;
}

}  // namespace

/// Takes over the reference that came with the command.
void partition_actor::take_cancel(tracked_record& who) {
  // Not here yet: it will be refused when it comes.
  if (who.answered() || !who.ordinal()) return who.release();
  cancels_.push_back(&who);
  new_cancels_ = true;
}

void partition_actor::cancel_unsent() {
  if (!std::exchange(new_cancels_, false)) return;
  std::vector<cancel_request> asked = requests_for(cancels_);
  core_.cancel_unsent(asked);
  forget_answered_cancels();
}

void partition_actor::cancel_sent() {
  forget_answered_cancels();  // in this turn, as by close()
  if (cancels_.empty()) return;
  new_cancels_ = true;  // what was sent may have come back unwritten
  cancel_unsent();
  if (cancels_.empty()) return;
  std::vector<cancel_request> asked = requests_for(cancels_);
  core_.cancel_sent(asked);
  forget_answered_cancels();
}

void partition_actor::forget_answered_cancels() noexcept {
  std::erase_if(cancels_, [](tracked_record* each) {
    if (!each->answered()) return false;
    each->release();
    return true;
  });
}

void partition_actor::buffered(const record_node& node, std::uint64_t ordinal) {
  static_cast<tracked_record*>(node.target)->buffered_as(ordinal);
}

void partition_actor::complete_early(batch& sent, std::span<const completion_entry> told,
                                     const failure_facts& facts) {
  if (sent.first_ticket == 0) sent.first_ticket = give_tickets(sent);
  const failed shared_answer = make_failed(facts, {sent.first_ticket}, sent.number_of(0));
  complete_all(told, shared_answer, observer_);
}

}  // namespace partita::actors
