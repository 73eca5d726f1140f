#include "actors/settlement_book.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

ticket_answer not_decided(std::error_code why) {
  return {ticket_state::undecidable, {}, -1, why, {}};
}

bool waits_for_fence(const unknown_batch& batch) noexcept {
  return batch.fenceable && !batch.fence;
}

}  // namespace

void settlement_book::keep(unknown_batch added, instant now) {
  PARTITA_EXPECTS(added.count() > 0);
  PARTITA_EXPECTS(batches_.empty() ||
                  batches_.back().first_ticket + batches_.back().count() <= added.first_ticket);
  added.expires = now + limits_.retention;
  records_ += added.count();
  halting_ += added.halted_by_it ? 1 : 0;
  unfenced_ += waits_for_fence(added) ? 1 : 0;
  batches_.push_back(std::move(added));
  // The newest stays in any case: its caller is just being told of it.
  while (records_ > limits_.records_max && batches_.size() > 1)
    drop_front(client_errc::ticket_expired);
}

unknown_batch* settlement_book::find(std::uint64_t ticket) noexcept {
  const auto after = std::upper_bound(
      batches_.begin(), batches_.end(), ticket,
      [](std::uint64_t value, const unknown_batch& each) { return value < each.first_ticket; });
  if (after == batches_.begin()) return nullptr;
  unknown_batch& found = *std::prev(after);
  return ticket - found.first_ticket < found.count() ? &found : nullptr;
}

void settlement_book::ask(settle_command& command, instant now) {
  expire(now);
  unknown_batch* found = find(command.ticket);
  if (found != nullptr && found->verdict.state != ticket_state::open)
    return answer(command, *found);
  if (closed_) return listener_.settled(command, not_decided(closed_));
  if (found == nullptr) return listener_.settled(command, not_decided(client_errc::ticket_expired));
  found->waiting.push_back(&command);
  ++waiters_;
}

void settlement_book::answer(settle_command& command, const unknown_batch& batch) {
  const std::size_t index = command.ticket - batch.first_ticket;
  const ticket_verdict& verdict = batch.verdict;
  ticket_answer made{verdict.state, {}, -1, verdict.reason, verdict.cause};
  if (verdict.state == ticket_state::delivered) {
    if (verdict.base_offset.known())
      made.at = offset(verdict.base_offset.value + static_cast<std::int64_t>(index));
    made.timestamp_ms = verdict.log_append_time_ms >= 0
                            ? verdict.log_append_time_ms
                            : batch.base_timestamp_ms + batch.timestamp_deltas_ms[index];
  }
  listener_.settled(command, made);
}

void settlement_book::answer_all(unknown_batch& batch) {
  waiters_ -= batch.waiting.size();
  for (settle_command* each : std::exchange(batch.waiting, {})) answer(*each, batch);
}

void settlement_book::written(const wire::batch_stamp& stamp, partita::offset at,
                              std::int64_t log_append_time_ms) {
  for (unknown_batch& each : batches_)
    if (each.target.stamp == stamp) decide(each, {ticket_state::delivered, at, log_append_time_ms});
}

void settlement_book::unwritten(const wire::batch_stamp& stamp) {
  for (unknown_batch& each : batches_)
    if (each.target.stamp == stamp) decide(each, {ticket_state::never_written, {}, -1, {}, {}});
}

void settlement_book::fence_by(const wire::batch_stamp& stamp, partita::offset at) {
  if (unfenced_ == 0 || !at.known()) return;
  for (unknown_batch& each : batches_) {
    if (!waits_for_fence(each) || each.target.stamp.id != stamp.id ||
        each.target.stamp.epoch >= stamp.epoch)
      continue;
    each.fence = log_fence{stamp, at};
    --unfenced_;
  }
}

void settlement_book::producer_id_changed(producer_id now_used) noexcept {
  for (unknown_batch& each : batches_)
    if (each.target.stamp.id != now_used) not_to_be_fenced(each);
}

void settlement_book::not_to_be_fenced(unknown_batch& batch) noexcept {
  if (waits_for_fence(batch)) --unfenced_;
  batch.fenceable = false;
}

void settlement_book::decide(unknown_batch& batch, const ticket_verdict& verdict) {
  const ticket_state before = batch.verdict.state;
  if (before == ticket_state::delivered || before == ticket_state::never_written) return;
  if (before == ticket_state::open && batch.halted_by_it) --halting_;
  batch.verdict = verdict;
  not_to_be_fenced(batch);
  listener_.batch_settled(batch);
  answer_all(batch);
}

void settlement_book::log_changed() {
  for (unknown_batch& each : batches_)
    if (each.verdict.state == ticket_state::open)
      decide(each, {ticket_state::undecidable, {}, -1, client_errc::log_changed, {}});
}

void settlement_book::drop_front(std::error_code why) {
  unknown_batch& front = batches_.front();
  not_to_be_fenced(front);
  if (front.verdict.state == ticket_state::open && front.halted_by_it) --halting_;
  records_ -= front.count();
  waiters_ -= front.waiting.size();
  const unknown_batch gone = std::move(front);
  batches_.pop_front();
  listener_.tickets_forgotten(gone.first_ticket);
  for (settle_command* each : gone.waiting) listener_.settled(*each, not_decided(why));
}

void settlement_book::expire(instant now) {
  while (!batches_.empty() && batches_.front().expires <= now)
    drop_front(client_errc::ticket_expired);
}

std::optional<instant> settlement_book::next_expiry() const noexcept {
  if (waiters_ == 0) return std::nullopt;
  for (const unknown_batch& each : batches_)
    if (!each.waiting.empty()) return each.expires;
  return std::nullopt;
}

void settlement_book::close(std::error_code why) {
  closed_ = why;
  waiters_ = 0;
  for (unknown_batch& each : batches_)
    for (settle_command* waiting : std::exchange(each.waiting, {}))
      listener_.settled(*waiting, not_decided(why));
}

}  // namespace partita::actors
