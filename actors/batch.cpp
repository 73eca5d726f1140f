#include "actors/batch.hpp"

#include "actors/record_node.hpp"
#include "wire/record_reader.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace partita::actors {
namespace {

bool may_follow(batch_state from, batch_state to) noexcept {
  using enum batch_state;
  switch (from) {
    case open:
      return to == sealed || to == failed;
    case sealed:
      return to == in_flight || to == failed;
    case in_flight:
      return to == awaiting_retry || to == delivered || to == failed;
    case awaiting_retry:
      // Delivered: it was found in the log.
      return to == in_flight || to == sealed || to == delivered || to == failed;
    case delivered:
      return false;
    case failed:
      // Kept for recover(): a new submission, the old one once more, or it was written after all.
      return to == sealed || to == awaiting_retry || to == delivered;
  }
  return false;
}

}  // namespace

batch::batch(wire::segment_pool* pool, void* owner) : pool_(pool), owner_(owner), builder_(pool) {
  kind = command_kind::batch;
}

void batch::reset() {
  PARTITA_ASSERT(next_in_queue == nullptr);
  PARTITA_ASSERT(!attempts.under_way());
  state_ = batch_state::open;
  frozen_ = false;
  builder_ = wire::batch_builder(pool_);
  sealed_ = wire::sealed_batch();
  entries_.clear();
  cost_ = 0;
  first_ordinal_ = 0;
  attempts = {};
  doubt = {};
  note = {};
  retry_at = {};
  same_code_repeats = 0;
  last_code = broker_errc::none;
  last_cause = {};
  broker_text.clear();
  faults.clear();
  too_large = false;
  hopeless.reset();
  acknowledged_offset.reset();
  log_append_time_ms = -1;
  footing = 0;
  repeated = false;
  sent_to = {};
  sent_in = {};
  submission = 0;
  failure = {fate::unknown, {}, {}, limit::none, 0};
  first_ticket = 0;
  swept = 0;
  forgotten = false;
  renewed = false;
  keyed_only = false;
  doubted_before_last = false;
  returning = false;
  orphaned = false;
  first_deadline_ = instant::max();
  last_deadline_ = {};
  mixed_ = false;
  answered_count_ = 0;
}

void batch::enter(batch_state next) {
  PARTITA_ASSERT(may_follow(state_, next), static_cast<int>(state_), static_cast<int>(next));
  state_ = next;
}

bool batch::fits(const record_node& node, std::size_t bytes_max,
                 std::size_t records_max) const noexcept {
  if (frozen_ || state_ != batch_state::open) return false;
  if (entries_.empty()) return true;  // a record larger than a batch gets one of its own
  const std::int64_t delta = node.timestamp_ms - builder_.base_timestamp();
  if (delta != static_cast<std::int32_t>(delta)) return false;  // completion_entry keeps 32 bits
  if (entries_.size() >= records_max) return false;
  const std::size_t at_most = builder_.size() + wire::record_prefix_size_max + node.tail_size;
  return at_most <= bytes_max || builder_.size_with(node.timestamp_ms, node.tail_size) <= bytes_max;
}

void batch::append(const record_node& node, std::uint64_t ordinal, instant deadline, instant came) {
  PARTITA_ASSERT(state_ == batch_state::open && !frozen_, static_cast<int>(state_));
  if (entries_.empty()) {
    first_ordinal_ = ordinal;
    deadline_ = last_deadline_ = deadline;
    opened_at_ = came;
  }
  PARTITA_ASSERT(entries_.empty() || ordinal > ordinal_of(entries_.size() - 1), ordinal);
  if (lies_alone(node.tail_size)) [[unlikely]]
    builder_.append(node.timestamp_ms, lend_tail(node));
  else
    builder_.append(node.timestamp_ms, node.tail());
  using milliseconds = std::chrono::milliseconds;
  using limits = std::numeric_limits<std::int32_t>;
  const auto later = std::clamp<std::int64_t>(
      std::chrono::floor<milliseconds>(deadline - deadline_).count(), limits::min(), limits::max());
  entries_.push_back({node.target, node.data, static_cast<std::uint32_t>(entries_.size()),
                      static_cast<std::int32_t>(node.timestamp_ms - builder_.base_timestamp()),
                      static_cast<std::int32_t>(later), node.key_hash,
                      static_cast<std::uint32_t>(ordinal - first_ordinal_)});
  mixed_ = mixed_ || node.own_timeout().count() != 0;
  const instant rounded = deadline_ + milliseconds(later);
  first_deadline_ = std::min(first_deadline_, rounded);
  last_deadline_ = std::max(last_deadline_, rounded);
  cost_ += record_cost(node.tail_size);
}

void batch::stamp(const wire::batch_stamp& tuple, wire::codec codec, int level) {
  PARTITA_ASSERT(!attempts.in_doubt() && !attempts.under_way());
  PARTITA_ASSERT(state_ == batch_state::open || state_ == batch_state::sealed,
                 static_cast<int>(state_));
  if (frozen_) {
    sealed_.restamp(tuple);
  } else {
    sealed_ = builder_.seal(tuple, codec, level);
    frozen_ = true;
  }
  if (state_ == batch_state::open) enter(batch_state::sealed);
}

std::size_t batch::records_before(std::uint64_t ordinal) const noexcept {
  if (entries_.empty() || ordinal <= first_ordinal_) return 0;
  if (ordinal > ordinal_of(entries_.size() - 1)) return entries_.size();
  const auto delta = static_cast<std::uint32_t>(ordinal - first_ordinal_);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), delta,
                                      [](const completion_entry& each, std::uint32_t wanted) {
                                        return each.ordinal_delta < wanted;
                                      });
  return static_cast<std::size_t>(found - entries_.begin());
}

std::size_t batch::unanswered_before(std::uint64_t ordinal) const noexcept {
  const std::size_t before = records_before(ordinal);
  if (answered_count_ == 0) return before;
  return before - static_cast<std::size_t>(std::count_if(
                      entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(before),
                      [](const completion_entry& each) { return each.answered; }));
}

std::size_t batch::index_of(std::uint64_t ordinal) const noexcept {
  const std::size_t index = records_before(ordinal);
  return index < entries_.size() && ordinal_of(index) == ordinal ? index : entries_.size();
}

std::size_t batch::size() const noexcept { return frozen_ ? sealed_.size() : builder_.size(); }

std::size_t batch::uncompressed_size() const noexcept {
  return frozen_ ? sealed_.uncompressed_size() : builder_.size();
}

std::int64_t batch::base_timestamp() const noexcept {
  return frozen_ ? sealed_.base_timestamp() : builder_.base_timestamp();
}

std::int64_t batch::max_timestamp() const noexcept {
  return frozen_ ? sealed_.max_timestamp() : builder_.max_timestamp();
}

std::size_t batch::expired_prefix(instant now) const noexcept {
  std::size_t expired = 0;
  while (expired < entries_.size() && deadline_of(expired) <= now) ++expired;
  return expired;
}

std::vector<std::size_t> batch::expired(instant now) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (!entries_[i].answered && deadline_of(i) <= now) found.push_back(i);
  return found;
}

void batch::mark_answered(const std::vector<std::size_t>& positions) {
  for (const std::size_t index : positions) {
    PARTITA_ASSERT(!entries_[index].answered, index);
    entries_[index].answered = true;
    entries_[index].target = nullptr;
  }
  answered_count_ += positions.size();
  find_deadlines();
}

void batch::find_deadlines() noexcept {
  first_deadline_ = instant::max();
  last_deadline_ = deadline_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].answered) first_deadline_ = std::min(first_deadline_, deadline_of(i));
    last_deadline_ = std::max(last_deadline_, deadline_of(i));
  }
}

void batch::read_records(const std::function<void(std::size_t, const record&)>& visit) const {
  const std::vector<std::byte> flat = frozen_ ? sealed_.bytes().flatten() : builder_.preview();
  wire::record_reader reader(flat, wire::decompressed_batch_limit_default, wire::checksum::skip);
  wire::record_view view;
  std::size_t index = 0;
  while (reader.next(view)) {
    record one;
    one.key = view.key;
    one.value = view.value;
    one.headers = view.headers;
    one.timestamp = timestamp(std::chrono::milliseconds(view.timestamp_ms));
    visit(index++, one);
  }
  PARTITA_ASSERT(!reader.error() && index == entries_.size(), index, entries_.size());
}

void batch::copy_records(std::vector<owned_record>& out) const {
  read_records([&](std::size_t, const record& one) {
    owned_record copy;
    if (one.key) copy.key.emplace(*one.key);
    if (one.value) copy.value.emplace(*one.value);
    for (const header& field : one.headers) {
      owned_header kept{std::string(field.key), std::nullopt};
      if (field.value) kept.value.emplace(*field.value);
      copy.headers.push_back(std::move(kept));
    }
    copy.timestamp = *one.timestamp;
    out.push_back(std::move(copy));
  });
}

void batch::begin_anew(instant deadline) {
  PARTITA_ASSERT(!attempts.under_way(), static_cast<int>(state_));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].position = static_cast<std::uint32_t>(i);
    entries_[i].deadline_delta_ms = 0;
  }
  attempts = {};
  doubt = {};
  doubted_before_last = false;
  broker_text.clear();
  faults.clear();
  too_large = false;
  hopeless.reset();
  acknowledged_offset.reset();
  log_append_time_ms = -1;
  same_code_repeats = 0;
  last_code = broker_errc::none;
  last_cause = {};
  first_ticket = 0;  // or its next failure would carry the first one's
  retry_at = {};
  forgotten = false;
  keyed_only = false;
  deadline_ = deadline;
  mixed_ = false;
  find_deadlines();
  if (state_ != batch_state::sealed) enter(batch_state::sealed);
}

void batch::renew(instant deadline) {
  PARTITA_ASSERT(!attempts.in_doubt() && state_ != batch_state::failed, static_cast<int>(state_));
  begin_anew(deadline);
  renewed = true;
}

void batch::retry_under_old_tuple(completion_target* target, std::uint64_t first_index,
                                  std::uint64_t place, instant deadline) {
  PARTITA_ASSERT(state_ == batch_state::failed && frozen_, static_cast<int>(state_));
  PARTITA_ASSERT(!attempts.under_way());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].target = target;
    entries_[i].data = first_index + i;
    entries_[i].deadline_delta_ms = 0;
    entries_[i].answered = false;
  }
  hopeless.reset();
  // The last attempt may have ended after the batch was given up.
  doubted_before_last = attempts.doubted();
  same_code_repeats = 0;
  last_code = broker_errc::none;
  keyed_only = false;
  submission = place;
  deadline_ = deadline;
  retry_at = {};
  mixed_ = false;
  answered_count_ = 0;
  find_deadlines();
  enter(batch_state::awaiting_retry);
}

void batch::resubmit(completion_target* target, std::uint64_t first_index, std::uint64_t position,
                     instant deadline) {
  PARTITA_ASSERT(state_ == batch_state::failed, static_cast<int>(state_));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].target = target;
    entries_[i].data = first_index + i;
    entries_[i].answered = false;
  }
  answered_count_ = 0;
  begin_anew(deadline);
  submission = position;
}

}  // namespace partita::actors
