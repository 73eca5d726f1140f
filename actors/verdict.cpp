#include "actors/verdict.hpp"

#include "wire/mutant.hpp"
#include <partita/contract.hpp>

#include <algorithm>
#include <array>

namespace partita::actors {
namespace {

struct verdict_row {
  broker_errc code;
  attempt_verdict with_offset;     // the answer carries a base offset >= 0
  attempt_verdict without_offset;  // it carries anything else
};

constexpr verdict_row success(broker_errc code) {
  return {code, attempt_verdict::delivered, attempt_verdict::delivered};
}

// Raised before the append only. An offset contradicts that, so it is believed over the code.
constexpr verdict_row before_append(broker_errc code) {
  return {code, attempt_verdict::unknown, attempt_verdict::not_appended};
}

// Raised before and after the append. Kafka's own brokers answer -1 in the first case, others put
// anything there, so -1 proves nothing (L3).
constexpr verdict_row either_side(broker_errc code) {
  return {code, attempt_verdict::appended, attempt_verdict::unknown};
}

constexpr verdict_row after_append(broker_errc code) {
  return {code, attempt_verdict::appended, attempt_verdict::appended};
}

constexpr std::array verdict_rows{
    success(broker_errc::none),
    success(broker_errc::duplicate_sequence_number),

    before_append(broker_errc::corrupt_message),
    before_append(broker_errc::message_too_large),
    before_append(broker_errc::invalid_topic_exception),
    before_append(broker_errc::record_list_too_large),
    before_append(broker_errc::not_enough_replicas),
    before_append(broker_errc::invalid_required_acks),
    before_append(broker_errc::topic_authorization_failed),
    before_append(broker_errc::cluster_authorization_failed),
    before_append(broker_errc::invalid_timestamp),
    before_append(broker_errc::unsupported_version),
    before_append(broker_errc::unsupported_for_message_format),
    before_append(broker_errc::out_of_order_sequence_number),
    before_append(broker_errc::invalid_producer_epoch),
    before_append(broker_errc::unknown_producer_id),
    before_append(broker_errc::unsupported_compression_type),
    before_append(broker_errc::invalid_record),
    before_append(broker_errc::unknown_topic_id),

    either_side(broker_errc::unknown_server_error),
    either_side(broker_errc::unknown_topic_or_partition),
    either_side(broker_errc::not_leader_or_follower),
    either_side(broker_errc::request_timed_out),
    either_side(broker_errc::kafka_storage_error),

    after_append(broker_errc::not_enough_replicas_after_append),
};

/// Codes that a mutant takes for a refusal.
bool is_misread(broker_errc code) noexcept {
  switch (code) {
    case broker_errc::request_timed_out:
      return planted(mutant::timeout_is_refusal);
    case broker_errc::not_leader_or_follower:
      return planted(mutant::not_leader_is_refusal);
    case broker_errc::not_enough_replicas_after_append:
      return planted(mutant::after_append_is_refusal);
    case broker_errc::kafka_storage_error:
      return planted(mutant::storage_error_is_refusal);
    default:
      return false;
  }
}

}  // namespace

attempt_verdict judge(broker_errc code, partita::offset base_offset) noexcept {
  if (is_misread(code)) return attempt_verdict::not_appended;
  const auto* found = std::find_if(verdict_rows.begin(), verdict_rows.end(),
                                   [code](const verdict_row& each) { return each.code == code; });
  if (found == verdict_rows.end())
    return planted(mutant::unlisted_is_refusal) ? attempt_verdict::not_appended
                                                : attempt_verdict::unknown;
  return base_offset.value >= 0 && !planted(mutant::offset_not_believed) ? found->with_offset
                                                                         : found->without_offset;
}

attempt_verdict judge(const attempt_end& end) noexcept {
  switch (end.stage) {
    case attempt_stage::not_sent:
      return attempt_verdict::not_appended;
    case attempt_stage::answered:
      return judge(end.code, end.base_offset);
    case attempt_stage::sent:
      if (planted(mutant::lost_answer_is_refusal)) return attempt_verdict::not_appended;
      break;
  }
  return attempt_verdict::unknown;
}

std::optional<partita::offset> delivered_offset(broker_errc code,
                                                partita::offset base_offset) noexcept {
  if (code != broker_errc::none || base_offset.value < 0) return std::nullopt;
  return base_offset;
}

void attempt_tally::begun() {
  PARTITA_EXPECTS(state_ == state::idle, state_);
  ++attempts_;
  state_ = state::queued;
}

void attempt_tally::frame_may_have_left() {
  PARTITA_EXPECTS(state_ == state::queued, state_);
  state_ = state::left;
}

void attempt_tally::ended(attempt_verdict verdict) {
  PARTITA_EXPECTS(state_ != state::idle, state_);
  if (planted(mutant::doubt_wiped_by_refusal)) doubted_ = false;
  if (doubtful(verdict)) doubted_ = true;
  state_ = state::idle;
}

void attempt_tally::proven_unwritten() {
  PARTITA_EXPECTS(state_ == state::idle, state_);
  doubted_ = false;
}

}  // namespace partita::actors
