#include "actors/log_search.hpp"

#include "wire/messages/list_offsets.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace partita::actors {

log_search::log_search(log_question question, const limits& with)
    : question_(std::move(question)), limits_(with), found_(question_.targets.size()) {
  PARTITA_EXPECTS(!question_.targets.empty());
}

search_step log_search::begin() {
  if (question_.anchor) return start_at(question_.anchor->at);
  if (question_.from.known()) return start_at(question_.from);
  // The first record at or after a batch's largest timestamp lies at or before that record of it.
  by_timestamp_ = true;
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (const log_target& each : question_.targets) oldest = std::min(oldest, each.max_timestamp_ms);
  phase_ = phase::first_offset;
  since_ms_ = std::max<std::int64_t>(0, oldest - limits_.clock_slack_ms);
  return ask_offset{since_ms_, false};
}

search_step log_search::start_at(partita::offset first) {
  next_ = first.value;
  anchor_due_ = question_.anchor.has_value();
  placed_ = question_.from.known();
  at_log_start_ = false;
  if (question_.fence || end_ >= 0) return read_on();
  phase_ = phase::log_end;
  return ask_offset{wire::latest_offset, true};
}

search_step log_search::read_on() {
  phase_ = phase::reading;
  if (all_found()) return finish();
  // Read it is once at least: only Fetch names a topic by its id, and a topic that was made again
  // since has an empty log, or one like the old one.
  if (read_ && at_end()) return finish();
  if (bytes_ >= limits_.bytes_max)
    return abandoned(search_end::undecidable, client_errc::log_too_long);
  return ask_records{next_};
}

bool log_search::at_end() const noexcept {
  return question_.fence ? fence_seen_ || fence_missing_ : next_ >= end_;
}

search_step log_search::offset_answered(broker_errc code, partita::offset answer) {
  if (code != broker_errc::none) return refused(code);
  switch (phase_) {
    case phase::first_offset:
      // One before it: where compaction took what is as young, there is a gap.
      if (answer.known()) return start_at(std::max<std::int64_t>(0, answer.value - 1));
      // Nothing is that young: not even what was written, if the log stamps by a slow clock.
      by_timestamp_ = false;
      phase_ = phase::log_start;
      return ask_offset{wire::earliest_offset, false};
    case phase::log_start:
      if (!answer.known()) return abandoned(search_end::interrupted, client_errc::malformed_answer);
      if (!out_of_range_) return start_at(answer);
      // Behind the log's end, though it was acknowledged up to here: the tail was lost.
      if (answer.value <= next_)
        return abandoned(search_end::undecidable, client_errc::log_changed,
                         broker_errc::offset_out_of_range);
      out_of_range_ = false;
      trimmed_ = true;
      return start_at(answer);
    case phase::log_end:
      if (!answer.known()) return abandoned(search_end::interrupted, client_errc::malformed_answer);
      end_ = answer.value;
      // Shorter than what was acknowledged: the tail was lost, and what came after it lies before
      // the question.
      if (end_ < std::max(next_, question_.from.value))
        return abandoned(search_end::undecidable, client_errc::log_changed);
      return read_on();
    case phase::reading:
      break;
  }
  return abandoned(search_end::interrupted, client_errc::unexpected_answer);
}

search_step log_search::records_answered(broker_errc code, partita::offset log_start,
                                         std::span<const std::byte> records) {
  PARTITA_EXPECTS(phase_ == phase::reading);
  if (code == broker_errc::offset_out_of_range) {
    if (std::exchange(out_of_range_, true))
      return abandoned(search_end::interrupted, broker_errc::offset_out_of_range);
    phase_ = phase::log_start;
    return ask_offset{wire::earliest_offset, false};
  }
  if (code != broker_errc::none) return refused(code);
  out_of_range_ = false;
  read_ = true;
  if (log_start.value > next_) trimmed_ = true;
  if (!std::exchange(placed_, true))
    at_log_start_ = log_start.value > 0 && next_ <= log_start.value;
  bytes_ += records.size();

  const std::int64_t before = next_;
  wire::batch_reader reader(records);
  while (reader.next()) {
    if (!take(reader.header()))
      return abandoned(search_end::interrupted, client_errc::malformed_answer,
                       client_errc::corrupt_data);
    if (fence_seen_ || fence_missing_) break;
  }
  if (reader.error())
    return abandoned(search_end::interrupted, client_errc::malformed_answer, reader.error());
  if (next_ != before || all_found() || at_end()) return read_on();
  // Bytes that bring nothing new would be asked for again and again.
  if (!records.empty())
    return abandoned(search_end::interrupted, client_errc::malformed_answer,
                     client_errc::corrupt_data);
  return await_log{};
}

search_step log_search::waited() { return read_on(); }

/// False: no broker stores such a batch.
bool log_search::take(const wire::batch_header& header) {
  if (header.base_offset < 0 || header.last_offset_delta < 0 ||
      header.last_offset() < header.base_offset)
    return false;
  if (question_.epoch.known() && header.partition_leader_epoch == question_.epoch.value)
    saw_epoch_ = true;
  if (header.last_offset() < next_) return true;  // before the question
  look_for_traces(header);
  if (question_.fence) {
    const log_fence& fence = *question_.fence;
    if (header.base_offset == fence.at.value && header.stamp() == fence.stamp)
      fence_seen_ = true;
    else if (header.last_offset() >= fence.at.value)
      fence_missing_ = true;
  }
  if (!fence_seen_ && !fence_missing_) match(header);
  next_ = header.last_offset() + 1;
  return true;
}

/// Of what is not there any more.
void log_search::look_for_traces(const wire::batch_header& header) {
  if (header.base_offset > next_) trimmed_ = true;
  // Where the log begins with what is as young as the targets, they may have lain before it.
  if (std::exchange(at_log_start_, false) && header.max_timestamp >= since_ms_) trimmed_ = true;
  if (!anchor_due_ || header.last_offset() < question_.anchor->at.value) return;
  anchor_due_ = false;
  if (header.base_offset <= question_.anchor->at.value)
    changed_ = header.base_offset != question_.anchor->at.value ||
               header.stamp() != question_.anchor->stamp;
}

void log_search::match(const wire::batch_header& header) {
  (header.log_append_time() ? saw_append_time_ : saw_own_time_) = true;
  if (header.control()) return;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const log_target& target = question_.targets[i];
    // Compaction takes records out of a batch, but leaves the range of its offsets.
    if (found_[i] || header.stamp() != target.stamp || header.last_offset_delta != target.count - 1)
      continue;
    // The cleaner sets the timestamp anew where it takes records out.
    const bool whole = header.records_count == target.count;
    if (whole && !header.log_append_time() && header.max_timestamp != target.max_timestamp_ms)
      continue;
    found_[i] =
        found_batch{header.base_offset, header.log_append_time() ? header.max_timestamp : -1};
  }
}

bool log_search::all_found() const noexcept {
  return std::all_of(found_.begin(), found_.end(),
                     [](const auto& each) { return each.has_value(); });
}

search_step log_search::finish() {
  if (!all_found()) {
    if (by_timestamp_ && (fence_missing_ || saw_append_time_ || !saw_own_time_)) {
      // The log may be stamped by the broker's clock, which is not the client's.
      by_timestamp_ = false;
      fence_seen_ = fence_missing_ = false;
      phase_ = phase::log_start;
      return ask_offset{wire::earliest_offset, false};
    }
    if (changed_ || fence_missing_)
      return abandoned(search_end::undecidable, client_errc::log_changed);
    if (at_log_start_) trimmed_ = true;  // there is nothing but what was taken away
    if (trimmed_) return abandoned(search_end::undecidable, client_errc::log_trimmed);
    // Whoever answered was not checked to be the leader.
    if (!question_.epoch.known())
      return abandoned(search_end::undecidable, client_errc::unsupported_version);
  }
  return abandoned(search_end::decided, {});
}

search_step log_search::refused(broker_errc code) {
  switch (code) {
    case broker_errc::topic_authorization_failed:
      return abandoned(search_end::undecidable, client_errc::log_not_readable, code);
    case broker_errc::unsupported_version:
      return abandoned(search_end::undecidable, client_errc::unsupported_version, code);
    default:
      // The leader moved, or is not ready, or is in trouble that may pass.
      return abandoned(search_end::interrupted, code, code);
  }
}

log_findings log_search::abandoned(search_end end, std::error_code reason, std::error_code cause) {
  return {question_.token, end, found_, reason, cause, saw_epoch_};
}

}  // namespace partita::actors
