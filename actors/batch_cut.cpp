// Taking records out of a batch: for a halted key, a cancelled record, a batch that is too large.
#include "actors/batch.hpp"

#include "actors/record_node.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace partita::actors {

/// What one of the two batches is made of afterwards.
struct batch::part {
  explicit part(wire::segment_pool* pool) : bytes(pool) {}
  wire::batch_builder bytes;
  std::vector<completion_entry> entries;
  std::size_t cost = 0;
};

/// Bytes may change only where no broker can hold them under the tuple they had (L1, L2).
bool batch::may_be_cut() const noexcept {
  if (attempts.under_way()) return false;
  const bool unsent = state_ == batch_state::open || state_ == batch_state::sealed;
  return state_ == batch_state::failed || (unsent && !attempts.in_doubt());
}

std::size_t batch::extract(const record_filter& wanted, batch& taken) {
  return cut([&](std::size_t index, std::size_t) { return wanted(index, entries_[index]); }, taken);
}

void batch::split_front(std::size_t moved, batch& front) {
  PARTITA_ASSERT(moved > 0 && moved < entries_.size(), moved, entries_.size());
  cut([moved](std::size_t index, std::size_t) { return index < moved; }, front);
}

void batch::split_half(batch& front) {
  PARTITA_ASSERT(entries_.size() > 1, entries_.size());
  const std::size_t last = entries_.size() - 1;
  const std::size_t half = uncompressed_size() / 2;
  cut([=](std::size_t index,
          std::size_t before) { return index == 0 || (index < last && before < half); },
      front);
}

std::size_t batch::cut(const cut_filter& wanted, batch& taken) {
  PARTITA_ASSERT(may_be_cut(), static_cast<int>(state_));
  PARTITA_ASSERT(taken.empty() && taken.state_ == batch_state::open);
  const batch_state before = state_;
  const std::int64_t old_base = base_timestamp();
  part rest(pool_);
  part moved(pool_);
  std::vector<std::byte> tail;
  std::size_t bytes = 0;
  read_records([&](std::size_t index, const record& one) {
    tail.resize(wire::record_tail_size(one));
    wire::encode_record_tail(one, tail.data());
    part& into = wanted(index, bytes) ? moved : rest;
    bytes += tail.size() + wire::record_prefix_size_max;
    into.bytes.append(one.timestamp->time_since_epoch().count(), tail);
    into.cost += record_cost(tail.size());
    completion_entry& entry = into.entries.emplace_back(entries_[index]);
    // Of a failed batch the position counts the tickets.
    if (before != batch_state::failed)
      entry.position = static_cast<std::uint32_t>(into.entries.size() - 1);
    entry.timestamp_delta_ms += static_cast<std::int32_t>(old_base - into.bytes.base_timestamp());
  });
  const std::size_t count = moved.entries.size();
  taken.become(std::move(moved), *this);
  become(std::move(rest), *this);
  return count;
}

/// `origin` may be this batch.
void batch::become(part&& source, const batch& origin) {
  if (&origin != this) {
    state_ = origin.state_;
    opened_at_ = origin.opened_at_;
    attempts = origin.attempts;
    retry_at = origin.retry_at;
    doubted_before_last = origin.doubted_before_last;
    same_code_repeats = origin.same_code_repeats;
    last_code = origin.last_code;
    last_cause = origin.last_cause;
    submission = origin.submission;
    mixed_ = origin.mixed_;
    renewed = origin.renewed;
    keyed_only = origin.keyed_only;
    swept = origin.swept;
    failure = origin.failure;
    acknowledged_offset = origin.acknowledged_offset;
    first_ticket = origin.first_ticket;
  }
  const std::uint64_t old_ordinal = origin.first_ordinal_;
  const instant old_deadline = origin.deadline_;
  entries_ = std::move(source.entries);
  builder_ = std::move(source.bytes);
  cost_ = source.cost;
  sealed_ = wire::sealed_batch();
  frozen_ = false;
  answered_count_ = static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [](const completion_entry& each) { return each.answered; }));
  if (entries_.empty()) return;
  const std::uint32_t skipped = entries_.front().ordinal_delta;
  const std::int32_t later = entries_.front().deadline_delta_ms;
  first_ordinal_ = old_ordinal + skipped;
  deadline_ = old_deadline + std::chrono::milliseconds(later);
  for (completion_entry& each : entries_) {
    each.ordinal_delta -= skipped;
    each.deadline_delta_ms -= later;
  }
  find_deadlines();
}

}  // namespace partita::actors
