#include "api/testing/transactions.hpp"

#include "api/testing/cluster_state.hpp"

#include <algorithm>

namespace partita::testing {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;

transaction_answer refused(broker_errc code) { return {code, -1, -1}; }

}  // namespace

const transaction* transaction_coordinator::find(const std::string& id) const noexcept {
  const auto found = transactions_.find(id);
  return found == transactions_.end() ? nullptr : &found->second;
}

// 32767 stays free for fencing: before it a new id begins.
void transaction_coordinator::bump(transaction& one, std::int32_t broker) {
  constexpr std::int16_t epoch_max = 32'766;
  if (one.producer_id < 0 || one.epoch >= epoch_max) {
    one.producer_id = state_.take_producer_id(broker);
    one.epoch = 0;
  } else {
    ++one.epoch;
  }
}

transaction_answer transaction_coordinator::init(const std::string& id, std::int64_t producer_id,
                                                 std::int16_t epoch, std::int64_t timeout_ms,
                                                 bool new_codes, std::int32_t broker, moment now) {
  auto& one = transactions_[id];
  if (producer_id >= 0) {
    const auto fenced =
        new_codes ? broker_errc::producer_fenced : broker_errc::invalid_producer_epoch;
    if (producer_id != one.producer_id) return refused(fenced);
    if (epoch != one.epoch && one.epoch_before >= 0 && epoch == one.epoch_before)
      return {broker_errc::none, one.producer_id, one.epoch};
    if (epoch != one.epoch) return refused(fenced);
  }
  if (one.status == transaction_status::ongoing) {
    ++one.epoch;  // the old producer is fenced by its own markers
    finish(one, false, now);
  }
  bump(one, broker);
  one.epoch_before = epoch;
  one.timeout_ms = timeout_ms;
  one.status = transaction_status::empty;
  return {broker_errc::none, one.producer_id, one.epoch};
}

broker_errc transaction_coordinator::check(const std::string& id, std::int64_t producer_id,
                                           std::int16_t epoch) const {
  const auto* one = find(id);
  if (one == nullptr || one->producer_id != producer_id)
    return broker_errc::invalid_producer_id_mapping;
  return one->epoch == epoch ? broker_errc::none : broker_errc::producer_fenced;
}

void transaction_coordinator::add(const std::string& id, std::string_view topic,
                                  std::int32_t partition, moment now) {
  auto& one = transactions_[id];
  if (one.status != transaction_status::ongoing) {
    one.status = transaction_status::ongoing;
    one.started_ns = now.steady_ns;
  }
  one.partitions.emplace(topic, partition);
}

transaction_answer transaction_coordinator::end(const std::string& id, std::int64_t producer_id,
                                                std::int16_t epoch, bool commit, bool bumps,
                                                moment now) {
  const auto found = transactions_.find(id);
  if (found == transactions_.end() || found->second.producer_id != producer_id)
    return refused(broker_errc::invalid_producer_id_mapping);
  auto& one = found->second;
  const auto done = commit ? transaction_status::committed : transaction_status::aborted;
  const transaction_answer same{broker_errc::none, one.producer_id, one.epoch};
  if (bumps && epoch != one.epoch && one.epoch_before >= 0 && epoch == one.epoch_before)
    return one.status == done ? same : refused(broker_errc::invalid_txn_state);
  if (epoch != one.epoch) return refused(broker_errc::producer_fenced);
  if (one.status != transaction_status::ongoing) {
    if (!bumps && one.status == done) return same;
    // An empty transaction can only be aborted, for its new epoch.
    if (!bumps || commit) return refused(broker_errc::invalid_txn_state);
  }
  if (bumps) {
    one.epoch_before = one.epoch;
    ++one.epoch;
  }
  finish(one, commit, now);
  return {broker_errc::none, one.producer_id, one.epoch};
}

void transaction_coordinator::finish(transaction& one, bool commit, moment now) {
  for (const auto& [name, index] : one.partitions) {
    auto* topic = state_.topic(name);
    auto* partition = topic == nullptr ? nullptr : topic->partition(index);
    if (partition == nullptr || partition->leader() < 0) continue;
    partition->end_transaction(one.producer_id, one.epoch, commit, now.wall_ms);
    partition->replicate(topic->settings);
  }
  one.partitions.clear();
  one.status = commit ? transaction_status::committed : transaction_status::aborted;
}

bool transaction_coordinator::pass_time(moment now) {
  bool any = false;
  for (auto& [id, one] : transactions_) {
    if (one.status != transaction_status::ongoing ||
        now.steady_ns - one.started_ns < one.timeout_ms * ns_per_ms)
      continue;
    ++one.epoch;
    one.epoch_before = -1;
    finish(one, false, now);
    any = true;
  }
  return any;
}

std::int64_t transaction_coordinator::next_deadline_ns() const noexcept {
  std::int64_t earliest = -1;
  for (const auto& [id, one] : transactions_) {
    if (one.status != transaction_status::ongoing) continue;
    const auto due = one.started_ns + one.timeout_ms * ns_per_ms;
    if (earliest < 0 || due < earliest) earliest = due;
  }
  return earliest;
}

}  // namespace partita::testing
