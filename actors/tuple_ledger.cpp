#include "actors/tuple_ledger.hpp"

#include "wire/mutant.hpp"
#include <partita/contract.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace partita::actors {
namespace {

bool overlap(sequence one, std::int32_t one_count, sequence other, std::int32_t other_count) {
  return sequence_distance(one, other) < one_count || sequence_distance(other, one) < other_count;
}

/// Not known: no log has so many offsets.
offset end_of(offset base, std::int32_t count) noexcept {
  if (base.value > std::numeric_limits<std::int64_t>::max() - count) return {};
  return offset(base.value + count);
}

}  // namespace

std::size_t tuple_ledger::find(const batch_tuple& tuple) const noexcept {
  for (std::size_t at = 0; at < size_; ++at) {
    const entry& each = entries_[at];
    if (each.crc32c == tuple.crc32c && each.base == tuple.stamp.base && each.count == tuple.count &&
        each.id == tuple.stamp.id && each.epoch == tuple.stamp.epoch)
      return at;
  }
  return absent;
}

// An empty ledger takes any beginning. Otherwise a broker with state would refuse all but these,
// and a broker without state would take them and lose or double records (KAFKA-15591).
bool tuple_ledger::continues(const batch_tuple& tuple) const {
  if (size_ == 0) return true;
  const entry& newest = entries_[size_ - 1U];
  const batch_stamp& stamp = tuple.stamp;
  if (newest.id == stamp.id && newest.epoch == stamp.epoch)
    return stamp.base == sequence_after(newest.base, newest.count);
  if (stamp.base != sequence{0}) return false;
  return std::none_of(entries_.begin(), entries_.begin() + size_, [&stamp](const entry& each) {
    return each.id == stamp.id && each.epoch >= stamp.epoch;
  });
}

// What the numbering brings next. The newest entry of an epoch is its highest, so nothing of that
// epoch lies behind it, unless the numbers have gone all the way round.
bool tuple_ledger::is_next(const batch_tuple& tuple) const noexcept {
  if (size_ == 0) return false;
  const entry& newest = entries_[size_ - 1U];
  return newest.id == tuple.stamp.id && newest.epoch == tuple.stamp.epoch &&
         tuple.stamp.base == sequence_after(newest.base, newest.count) &&
         remembered_records_ + tuple.count < std::numeric_limits<std::int32_t>::max();
}

ledger_answer tuple_ledger::check_before_write(const batch_tuple& tuple) const {
  PARTITA_EXPECTS(tuple.stamp.idempotent());
  PARTITA_EXPECTS(tuple.count > 0, tuple.count);
  if (planted(mutant::ledger_off)) return ledger_answer::ok;
  if (is_next(tuple))
    return outstanding() < outstanding_max ? ledger_answer::ok : ledger_answer::full;
  if (const std::size_t at = find(tuple); at != absent) {
    // A batch that was acknowledged has no reason to go out again.
    return entries_[at].state == standing::settled ? ledger_answer::contradiction
                                                   : ledger_answer::ok;
  }
  for (std::size_t at = 0; at < size_; ++at) {
    const entry& each = entries_[at];
    if (each.id == tuple.stamp.id && each.epoch == tuple.stamp.epoch &&
        overlap(each.base, each.count, tuple.stamp.base, tuple.count))
      return ledger_answer::contradiction;
  }
  if (!continues(tuple)) return ledger_answer::contradiction;
  return outstanding() < outstanding_max ? ledger_answer::ok : ledger_answer::full;
}

void tuple_ledger::record_sent(const batch_tuple& tuple) {
  if (planted(mutant::ledger_off)) return;
  const ledger_answer allowed = check_before_write(tuple);
  PARTITA_EXPECTS(allowed == ledger_answer::ok, allowed, tuple.stamp.id.value,
                  tuple.stamp.epoch.value, tuple.stamp.base.value);
  if (const std::size_t at = is_next(tuple) ? absent : find(tuple); at != absent) {
    // Its success, when it comes, will speak of the log that is there now.
    entries_[at].incarnation = incarnation_;
    return;
  }
  if (size_ == capacity) make_room();
  PARTITA_ASSERT(size_ < capacity, size_);
  remembered_records_ += tuple.count;
  entries_[size_++] = {.id = tuple.stamp.id,
                       .base = tuple.stamp.base,
                       .count = tuple.count,
                       .crc32c = tuple.crc32c,
                       .epoch = tuple.stamp.epoch,
                       .incarnation = incarnation_};
}

void tuple_ledger::release_unwritten(const batch_tuple& tuple) {
  const std::size_t at = find(tuple);
  if (at != absent && entries_[at].state == standing::outstanding) erase(at);
}

void tuple_ledger::abandoned(const batch_tuple& tuple) {
  const std::size_t at = find(tuple);
  if (at != absent && entries_[at].state == standing::outstanding)
    entries_[at].state = standing::abandoned;
}

ledger_answer tuple_ledger::settled(const batch_tuple& tuple, partita::offset base_offset) {
  if (planted(mutant::ledger_off)) return ledger_answer::ok;
  const std::size_t at = find(tuple);
  if (at == absent) return ledger_answer::not_remembered;
  entry& found = entries_[at];
  if (found.state == standing::settled) return ledger_answer::contradiction;
  if (base_offset.value >= 0 && !ordered(at, base_offset)) {
    claimed_end_ = std::max(claimed_end_, end_of(base_offset, found.count));
    return ledger_answer::contradiction;
  }
  found.state = standing::settled;
  found.base_offset = base_offset.value >= 0 ? base_offset : partita::offset{};
  return ledger_answer::ok;
}

bool tuple_ledger::ordered(std::size_t at, partita::offset base_offset) const noexcept {
  const entry& found = entries_[at];
  if (!end_of(base_offset, found.count).known()) return false;
  if (found.incarnation != incarnation_) return true;
  if (base_offset < floor_) return false;
  for (std::size_t other = 0; other < size_; ++other) {
    const entry& each = entries_[other];
    if (other == at || !each.base_offset.known() || each.incarnation != incarnation_) continue;
    const bool right = other < at ? each.base_offset.value + each.count <= base_offset.value
                                  : base_offset.value + found.count <= each.base_offset.value;
    if (!right) return false;
  }
  return true;
}

void tuple_ledger::new_incarnation() {
  ++incarnation_;
  floor_ = {};
  claimed_end_ = {};
}

void tuple_ledger::begin_anew() {
  ++incarnation_;
  floor_ = std::exchange(claimed_end_, offset());
}

std::size_t tuple_ledger::outstanding() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.begin() + size_,
                    [](const entry& each) { return each.state == standing::outstanding; }));
}

void tuple_ledger::erase(std::size_t at) noexcept {
  remembered_records_ -= entries_[at].count;
  std::copy(entries_.begin() + static_cast<std::ptrdiff_t>(at) + 1, entries_.begin() + size_,
            entries_.begin() + static_cast<std::ptrdiff_t>(at));
  --size_;
}

// Forgets the oldest batch that has ended. What it proved about offsets stays as the floor, as long
// as nothing older is left that may rightly lie below it.
void tuple_ledger::make_room() {
  const auto* oldest =
      std::find_if(entries_.begin(), entries_.begin() + size_,
                   [](const entry& each) { return each.state != standing::outstanding; });
  PARTITA_ASSERT(oldest != entries_.begin() + size_, size_);
  const auto at = static_cast<std::size_t>(oldest - entries_.begin());
  if (at == 0 && oldest->base_offset.known() && oldest->incarnation == incarnation_)
    floor_ = std::max(floor_, partita::offset{oldest->base_offset.value + oldest->count});
  erase(at);
}

}  // namespace partita::actors
