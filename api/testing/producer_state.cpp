#include "api/testing/producer_state.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace partita::testing {
namespace {
constexpr std::int32_t sequence_max = std::numeric_limits<std::int32_t>::max();
}

std::int32_t batch_metadata::first_sequence() const noexcept {
  const std::int64_t first = std::int64_t{last_sequence} - offset_delta;
  return static_cast<std::int32_t>(first < 0 ? first + (std::int64_t{1} << 31) : first);
}

const batch_metadata* producer_state::find_duplicate(const batch_tuple& tuple,
                                                     std::size_t depth) const noexcept {
  const auto found = producers_.find(tuple.producer_id);
  if (found == producers_.end() || found->second.epoch != tuple.epoch) return nullptr;
  const auto& window = found->second.window;
  for (std::size_t i = window.size() - std::min(depth, window.size()); i < window.size(); ++i)
    if (window[i].first_sequence() == tuple.base_sequence &&
        window[i].last_sequence == tuple.last_sequence)
      return &window[i];
  return nullptr;
}

broker_errc producer_state::check(const batch_tuple& tuple, bool ever_written,
                                  emulation version) const noexcept {
  const auto found = producers_.find(tuple.producer_id);
  if (found == producers_.end()) {
    if (tuple.base_sequence == 0) return broker_errc::none;
    if (version == emulation::kafka_2_4) return broker_errc::unknown_producer_id;
    // KAFKA-15591: a partition that never held a record has nothing to have forgotten.
    if (version == emulation::kafka_4_5 && !ever_written)
      return broker_errc::out_of_order_sequence_number;
    return broker_errc::none;
  }
  const auto& entry = found->second;
  if (tuple.epoch < entry.epoch) return broker_errc::invalid_producer_epoch;
  if (tuple.epoch != entry.epoch) {
    const bool accepted = tuple.base_sequence == 0 || entry.epoch == -1;
    return accepted ? broker_errc::none : broker_errc::out_of_order_sequence_number;
  }
  const auto last = entry.window.empty() ? -1 : entry.window.back().last_sequence;
  const auto next = last == sequence_max ? 0 : last + 1;
  return tuple.base_sequence == next ? broker_errc::none
                                     : broker_errc::out_of_order_sequence_number;
}

void producer_state::remember(const batch_tuple& tuple, std::int64_t first_offset,
                              std::int64_t last_offset, std::int64_t max_timestamp_ms) {
  PARTITA_EXPECTS(tuple.producer_id >= 0, tuple.producer_id);
  PARTITA_EXPECTS(first_offset <= last_offset, first_offset, last_offset);
  auto& entry = producers_[tuple.producer_id];
  if (entry.epoch != tuple.epoch) entry.window.clear();
  entry.epoch = tuple.epoch;
  entry.last_timestamp_ms = max_timestamp_ms;
  entry.window.push_back({tuple.last_sequence, last_offset,
                          static_cast<std::int32_t>(last_offset - first_offset), max_timestamp_ms});
  if (entry.window.size() > window_max) entry.window.pop_front();
}

void producer_state::begin_transaction(std::int64_t producer_id, std::int64_t offset) {
  auto& entry = producers_[producer_id];
  if (entry.transaction_start < 0) entry.transaction_start = offset;
}

std::int64_t producer_state::end_transaction(std::int64_t producer_id, std::int16_t epoch,
                                             std::int32_t coordinator_epoch,
                                             std::int64_t timestamp_ms) {
  auto& entry = producers_[producer_id];
  if (entry.epoch != epoch) entry.window.clear();
  entry.epoch = epoch;
  entry.last_timestamp_ms = timestamp_ms;
  entry.coordinator_epoch = coordinator_epoch;
  return std::exchange(entry.transaction_start, -1);
}

const producer_entry* producer_state::find(std::int64_t producer_id) const noexcept {
  const auto found = producers_.find(producer_id);
  return found == producers_.end() ? nullptr : &found->second;
}

void producer_state::expire(std::int64_t now_ms, std::int64_t limit_ms) {
  std::erase_if(producers_, [&](const auto& producer) {
    return producer.second.transaction_start < 0 &&
           now_ms - producer.second.last_timestamp_ms >= limit_ms;
  });
}

void producer_state::keep_last_batches() {
  for (auto& [id, entry] : producers_)
    while (entry.window.size() > 1) entry.window.pop_front();
}

}  // namespace partita::testing
