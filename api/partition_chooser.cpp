#include "api/partition_chooser.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita {
namespace {

constexpr int races_max = 8;
constexpr std::uint64_t byte_mask = 0xffffffffU;
// Backlogs are compared in units of this many stints at most, so that sums can't overflow.
constexpr std::uint64_t backlog_max = std::uint64_t{1} << 20;

bool is_available(const partition_view& partitions, std::int32_t partition) noexcept {
  return partitions.available.empty() || partitions.available[static_cast<std::size_t>(partition)];
}

constexpr std::uint64_t packed(std::int32_t partition, std::uint64_t bytes) noexcept {
  return (static_cast<std::uint64_t>(partition) + 1) << 32 | std::min(bytes, byte_mask);
}

constexpr std::int32_t partition_in(std::uint64_t state) noexcept {
  return static_cast<std::int32_t>(state >> 32) - 1;
}

/// The index-th of the available partitions; of all, if `count_available` says that none is.
std::int32_t nth_available(const partition_view& partitions, std::uint64_t index) noexcept {
  for (std::int32_t partition = 0; partition < partitions.count; ++partition)
    if (is_available(partitions, partition) && index-- == 0) return partition;
  return 0;
}

std::uint64_t count_available(const partition_view& partitions) noexcept {
  if (partitions.available.empty()) return static_cast<std::uint64_t>(partitions.count);
  return static_cast<std::uint64_t>(
      std::count(partitions.available.begin(), partitions.available.end(), true));
}

}  // namespace

chooser_settings chooser_settings_of(const producer_config& config) noexcept {
  return {config.partitioner, config.custom_partitioner, config.partitioner_ignore_keys,
          config.partitioner_adaptive, config.partitioner_sticky_bytes};
}

partition_chooser::partition_chooser(const chooser_settings& settings, std::uint64_t seed) noexcept
    : settings_(settings), random_(seed) {
  PARTITA_EXPECTS(settings.sticky_bytes > 0);
}

partition_choice partition_chooser::choose(const record& record, std::size_t size,
                                           const partition_view& partitions) noexcept {
  PARTITA_EXPECTS(partitions.count > 0, partitions.count);
  PARTITA_EXPECTS(partitions.available.empty() ||
                  partitions.available.size() == static_cast<std::size_t>(partitions.count));
  PARTITA_EXPECTS(partitions.queued_bytes.empty() ||
                  partitions.queued_bytes.size() == static_cast<std::size_t>(partitions.count));
  const auto exists = [&](partition_id p) { return p.value >= 0 && p.value < partitions.count; };

  if (record.partition) {
    if (exists(*record.partition)) return {*record.partition};
    return {{}, client_errc::invalid_partition};
  }
  if (settings_.custom != nullptr) {
    const partition_id chosen = settings_.custom->choose(record, partitions);
    if (exists(chosen)) return {chosen};
    return {{}, client_errc::partitioner_failed};
  }
  switch (settings_.kind) {
    case partitioner_kind::manual:
      return {{}, client_errc::invalid_partition};
    case partitioner_kind::random:
      return {choose_random(partitions)};
    case partitioner_kind::round_robin:
      return {choose_next(partitions)};
    default:
      break;
  }
  if (!settings_.ignore_keys) {
    const auto keyed = partition_of_key(settings_.kind, record.key, partitions.count);
    if (keyed) return {*keyed};
  }
  return {choose_sticky(size, partitions)};
}

std::int32_t partition_chooser::choose_sticky(std::size_t size,
                                              const partition_view& partitions) noexcept {
  std::uint64_t seen = sticky_.load(std::memory_order_relaxed);
  for (int race = 0;; ++race) {
    std::int32_t partition = partition_in(seen);
    std::uint64_t bytes = seen & byte_mask;
    const bool stay = partition >= 0 && partition < partitions.count &&
                      bytes < settings_.sticky_bytes && is_available(partitions, partition);
    if (!stay) {
      partition = settings_.adaptive ? choose_short_queue(partitions) : choose_random(partitions);
      bytes = 0;
    }
    // The word carries no other data along, so no order is needed.
    const std::uint64_t next = packed(partition, bytes + std::min<std::uint64_t>(size, byte_mask));
    if (sticky_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return partition;
    if (race == races_max) return partition;
  }
}

std::int32_t partition_chooser::choose_random(const partition_view& partitions) noexcept {
  const std::uint64_t available = count_available(partitions);
  const auto all = static_cast<std::uint64_t>(partitions.count);
  if (available == 0 || available == all) return static_cast<std::int32_t>(draw() % all);
  return nth_available(partitions, draw() % available);
}

std::int32_t partition_chooser::choose_next(const partition_view& partitions) noexcept {
  // A turn that falls on an unavailable partition is used up, so that the others stay even. Each
  // caller has turns of its own (KAFKA-17632: asking twice for one record skipped every other one).
  // Where none is available, as before the first leaders are known, each record takes one turn: a
  // whole round for each would end at the same partition every time.
  const bool any = count_available(partitions) > 0;
  for (std::int32_t tries = 0; tries < partitions.count; ++tries) {
    const std::uint64_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
    const auto partition =
        static_cast<std::int32_t>(turn % static_cast<std::uint64_t>(partitions.count));
    if (!any || is_available(partitions, partition)) return partition;
  }
  // Other threads may have taken the turns in between.
  return nth_available(partitions, 0);
}

/// KIP-794: the chance is the longest backlog + 1 - the partition's own. Backlogs are counted in
/// stints, because a few bytes more or less say nothing.
std::int32_t partition_chooser::choose_short_queue(const partition_view& partitions) noexcept {
  if (partitions.queued_bytes.empty()) return choose_random(partitions);
  const auto backlog = [&](std::int32_t partition) {
    const auto bytes = partitions.queued_bytes[static_cast<std::size_t>(partition)];
    return std::min<std::uint64_t>(bytes / settings_.sticky_bytes, backlog_max);
  };
  std::uint64_t longest = 0;
  std::uint64_t available = 0;
  std::uint64_t sum = 0;
  for (std::int32_t partition = 0; partition < partitions.count; ++partition) {
    if (!is_available(partitions, partition)) continue;
    ++available;
    sum += backlog(partition);
    longest = std::max(longest, backlog(partition));
  }
  if (available == 0) return choose_random(partitions);

  std::uint64_t mark = draw() % (available * (longest + 1) - sum);
  for (std::int32_t partition = 0; partition < partitions.count; ++partition) {
    if (!is_available(partitions, partition)) continue;
    const std::uint64_t chance = longest + 1 - backlog(partition);
    if (mark < chance) return partition;
    mark -= chance;
  }
  return nth_available(partitions, 0);
}

std::uint64_t partition_chooser::draw() noexcept {
  // splitmix64: the state only counts, so threads share it with one addition.
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  std::uint64_t bits = random_.fetch_add(step, std::memory_order_relaxed) + step;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

}  // namespace partita
