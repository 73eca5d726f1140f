// Batches that the broker refuses in part: too large as a whole (KIP-126), or with records at fault
// among innocent ones (KIP-467). Only batches that were never in doubt are cut.
#include "actors/partition_core.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace partita::actors {
namespace {

/// Each record at fault is taken out by itself. An answer that blames more fails the whole batch.
constexpr std::size_t blamed_max = 100;

bool says_too_large(broker_errc code) noexcept {
  return code == broker_errc::message_too_large || code == broker_errc::record_list_too_large;
}

bool blames_records(broker_errc code) noexcept {
  return code == broker_errc::invalid_record || code == broker_errc::invalid_timestamp;
}

}  // namespace

// Too large

std::size_t partition_core::batch_bytes_now(instant now) const noexcept {
  return std::min(settings_.batch_bytes_max, settings_.fitting->limit(now));
}

/// Halves what will be sent next until it fits what the topic's brokers are known to take. Halves
/// of one refused batch are so cut further by the refusal of the first of them.
void partition_core::cut_to_fit(instant now) {
  while (!open_.empty()) {
    batch& front = *open_.front();
    if (front.count() < 2) return;
    if (!front.too_large && front.uncompressed_size() <= settings_.fitting->limit(now)) return;
    const bool refused = std::exchange(front.too_large, false);
    batch& half = *effects_.new_batch();
    open_.pop_front();
    front.split_half(half);
    if (refused)
      settings_.fitting->lower(std::max(half.uncompressed_size(), front.uncompressed_size()), now);
    open_.insert_by_order(front);
    open_.insert_by_order(half);
  }
}

/// Proven unwritten: its tuple ends with the epoch, and it goes back to what was never sent.
void partition_core::free_for_cutting(batch& refused) {
  if (settings_.idempotent) return start_fencing();
  PARTITA_ASSERT(&refused == unfinished_.front());  // one at a time
  unfinished_.pop_front();
  refused.enter(batch_state::sealed);
  open_.insert_by_order(refused);
}

void partition_core::note_single_too_large(const batch& refused, instant now) noexcept {
  if (refused.count() != 1 || !says_too_large(refused.last_code)) return;
  settings_.fitting->refused(refused.size());
  settings_.fitting->lower(refused.uncompressed_size() - 1, now);
}

/// In words: what the broker said, and of a record that does not fit its size and what is known of
/// the limit.
std::string partition_core::detail_of(const batch& refused) const {
  if (refused.count() != 1 || !says_too_large(refused.last_code)) return refused.broker_text;
  std::string words = "the batch of this record alone has " + std::to_string(refused.size()) +
                      " bytes, which is above the topic's max.message.bytes";
  if (const std::size_t taken = settings_.fitting->largest_taken(); taken != 0)
    words += "; one of " + std::to_string(taken) + " bytes was taken";
  return refused.broker_text.empty() ? words : words + ": " + refused.broker_text;
}

// Records at fault

bool partition_core::is_blamed_in_part(const batch& refused, instant now) const noexcept {
  return refused.hopeless && refused.hopeless->end.stage == attempt_stage::answered &&
         blames_records(refused.hopeless->end.code) && !refused.attempts.in_doubt() &&
         !refused.attempts.under_way() && !refused.faults.empty() &&
         refused.faults.size() < refused.count() && refused.faults.size() <= blamed_max &&
         refused.deadline() > now;
}

/// The records at fault fail; the rest is a new batch for the next epoch, in its old place.
void partition_core::fail_blamed(batch& refused) {
  const std::vector<record_fault> faults = std::exchange(refused.faults, {});
  const broker_errc code = refused.hopeless->end.code;
  const int attempts = refused.attempts.attempts();
  const std::string text = std::exchange(refused.broker_text, {});
  if (settings_.idempotent) ledger_.release_unwritten(tuple_of(refused));
  start_fencing();
  refused.enter(batch_state::sealed);
  refused.hopeless.reset();
  tickets_unwritten(refused);
  batch* guilty = effects_.new_batch();
  refused.extract(
      [&](std::size_t index, const completion_entry&) {
        return std::binary_search(
            faults.begin(), faults.end(), record_fault{static_cast<std::uint32_t>(index), {}},
            [](const auto& a, const auto& b) { return a.position < b.position; });
      },
      *guilty);
  PARTITA_ASSERT(guilty->count() == faults.size(), guilty->count(), faults.size());
  if (drop_answered(refused)) open_.insert_by_order(refused);
  note_held_expiry();
  for (const record_fault& fault : faults) {
    batch* one = guilty;
    if (guilty->count() > 1) {
      one = effects_.new_batch();
      guilty->split_front(1, *one);
    }
    failure_facts facts{fate::not_written, code, code, limit::none, attempts};
    facts.detail = fault.text.empty() ? text : fault.text;
    const std::uint64_t ordinal = one->first_ordinal();
    fail(*one, facts);
    if (gate_ == gate::halted) separate_at(ordinal);  // recover() puts it back between the others
  }
}

// At a halt

/// What was produced before the record passes a halt, so no batch may lie on both sides of it.
void partition_core::separate_at(std::uint64_t ordinal) {
  const auto straddles = [&](const batch& each) {
    const std::size_t before = each.records_before(ordinal);
    return before != 0 && before != each.count();
  };
  bool any = false;
  for (const batch* at = open_.front(); at != nullptr; at = batch_queue::after(*at))
    any = any || straddles(*at);
  if (!any) return;
  batch_queue all;
  while (!open_.empty()) {
    batch& next = *open_.pop_front();
    if (straddles(next)) {
      batch& front = *effects_.new_batch();
      next.split_front(next.records_before(ordinal), front);
      all.insert_by_order(front);
    }
    all.insert_by_order(next);
  }
  while (!all.empty()) open_.push_back(*all.pop_front());
}

}  // namespace partita::actors
