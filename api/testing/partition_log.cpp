#include "api/testing/partition_log.hpp"

#include "api/testing/control_batch.hpp"
#include "api/testing/log_cleaner.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::testing {

void partition_log::append(batch_pointer batch) {
  PARTITA_EXPECTS(batch->first_offset() >= end_, batch->first_offset(), end_);
  end_ = batch->last_offset() + 1;
  remember(*batch);
  bytes_ += static_cast<std::int64_t>(batch->bytes.size());
  batches_.push_back(std::move(batch));
}

void partition_log::begin_at(std::int64_t offset) {
  *this = {};
  start_ = end_ = offset;
}

std::size_t partition_log::find(std::int64_t offset) const noexcept {
  const auto found = std::partition_point(
      batches_.begin(), batches_.end(),
      [&](const batch_pointer& batch) { return batch->last_offset() < offset; });
  return static_cast<std::size_t>(found - batches_.begin());
}

void partition_log::delete_before(std::int64_t offset) {
  PARTITA_EXPECTS(offset <= end_, offset, end_);
  if (offset <= start_) return;
  start_ = offset;
  while (!batches_.empty() && batches_.front()->last_offset() < start_) {
    bytes_ -= static_cast<std::int64_t>(batches_.front()->bytes.size());
    batches_.pop_front();
  }
}

std::vector<log_record> partition_log::clean(std::int64_t before) {
  auto done = testing::clean(batches_, before, producers_);
  for (const auto& batch : done.gone) cleaned_.insert(batch->serial);
  batches_ = std::move(done.left);
  bytes_ = 0;
  for (const auto& batch : batches_) bytes_ += static_cast<std::int64_t>(batch->bytes.size());
  return std::move(done.removed);
}

void partition_log::truncate(std::int64_t offset) {
  if (offset >= end_) return;
  auto first_dropped = end_;
  while (!batches_.empty() && batches_.back()->last_offset() >= offset) {
    first_dropped = batches_.back()->first_offset();
    bytes_ -= static_cast<std::int64_t>(batches_.back()->bytes.size());
    batches_.pop_back();
  }
  end_ = std::min(offset, std::max(first_dropped, start_));
  start_ = std::min(start_, end_);
  producers_.clear();
  aborted_.clear();
  for (const auto& batch : batches_) remember(*batch);
}

void partition_log::remember(const stored_batch& batch) {
  const auto& header = batch.header;
  if (header.producer_id < 0) return;
  if (header.control()) {
    const auto began = producers_.end_transaction(header.producer_id, header.producer_epoch,
                                                  coordinator_epoch, header.max_timestamp);
    if (began >= 0 && !commits(batch.bytes))
      aborted_.push_back({header.producer_id, began, batch.last_offset()});
    return;
  }
  producers_.remember(batch.tuple(), batch.first_offset(), batch.last_offset(),
                      header.max_timestamp);
  if (header.transactional())
    producers_.begin_transaction(header.producer_id, batch.first_offset());
}

std::int64_t partition_log::first_unstable() const noexcept {
  auto first = end_;
  for (const auto& [id, entry] : producers_.producers())
    if (entry.transaction_start >= 0) first = std::min(first, entry.transaction_start);
  return first;
}

std::int64_t partition_log::common_end(const partition_log& leader) const noexcept {
  // Same offset and same batch on both sides; below the leader's start there is nothing to compare.
  const auto same = [&](const batch_pointer& mine) {
    if (mine->last_offset() < leader.start() || leader.cleaned_.contains(mine->serial)) return true;
    const auto at = leader.find(mine->first_offset());
    return at < leader.batches().size() && leader.batches()[at]->serial == mine->serial;
  };
  auto keep = batches_.size();
  while (keep > 0 && !same(batches_[keep - 1])) --keep;
  return keep < batches_.size() ? batches_[keep]->first_offset() : end_;
}

std::size_t partition_log::truncate_to_common(const partition_log& leader) {
  const auto before = batches_.size();
  if (const auto common = common_end(leader); common < end_) truncate(common);
  return before - batches_.size();
}

}  // namespace partita::testing
