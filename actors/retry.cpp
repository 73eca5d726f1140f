#include "actors/retry.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <array>

namespace partita::actors {
namespace {

/// What a code asks for while no attempt of the batch is in doubt.
enum class reaction : std::uint8_t {
  again,      // it passes by itself
  few_times,  // damaged on the way: again, but not for ever
  cut,        // too large as a whole
  renumber,   // the broker's idea of the numbering is not ours
  surrender,  // sending it again can not help
};

struct row {
  broker_errc code;
  reaction react;
  bool retriable;  // by Kafka's own class hierarchy
  bool refresh;    // who leads may have changed
};

constexpr int corrupt_attempts_max = 3;
constexpr int bumps_before_new_id = 3;

constexpr std::array table{
    row{broker_errc::corrupt_message, reaction::few_times, true, false},
    row{broker_errc::unknown_topic_or_partition, reaction::again, true, true},
    row{broker_errc::leader_not_available, reaction::again, true, true},
    row{broker_errc::not_leader_or_follower, reaction::again, true, true},
    row{broker_errc::request_timed_out, reaction::again, true, false},
    row{broker_errc::message_too_large, reaction::cut, false, false},
    row{broker_errc::network_exception, reaction::again, true, true},
    row{broker_errc::coordinator_load_in_progress, reaction::again, true, false},
    row{broker_errc::coordinator_not_available, reaction::again, true, false},
    row{broker_errc::not_coordinator, reaction::again, true, false},
    row{broker_errc::record_list_too_large, reaction::cut, false, false},
    row{broker_errc::not_enough_replicas, reaction::again, true, false},
    row{broker_errc::not_enough_replicas_after_append, reaction::again, true, false},
    row{broker_errc::out_of_order_sequence_number, reaction::renumber, false, false},
    row{broker_errc::invalid_producer_epoch, reaction::renumber, false, false},
    row{broker_errc::concurrent_transactions, reaction::again, true, false},
    row{broker_errc::kafka_storage_error, reaction::again, true, true},
    row{broker_errc::unknown_producer_id, reaction::renumber, false, false},
    row{broker_errc::fenced_leader_epoch, reaction::again, true, true},
    row{broker_errc::unknown_leader_epoch, reaction::again, true, true},
    row{broker_errc::throttling_quota_exceeded, reaction::again, true, false},
    row{broker_errc::unknown_topic_id, reaction::again, true, true},
    row{broker_errc::inconsistent_topic_id, reaction::again, true, true},
};

// Everything that is not listed: Kafka does not retry it, and neither do we unless it is in doubt.
row row_of(broker_errc code) noexcept {
  const auto* found = std::find_if(table.begin(), table.end(),
                                   [code](const row& each) { return each.code == code; });
  return found != table.end() ? *found : row{code, reaction::surrender, false, false};
}

row row_of(const attempt_end& end) noexcept {
  if (end.stage == attempt_stage::answered) return row_of(end.code);
  // No answer: the leader may be elsewhere by now.
  return {broker_errc::network_exception, reaction::again, true, true};
}

retry_decision give_up(const retry_situation& at, bool in_doubt, limit ended_by) {
  return {.action = retry_action::give_up,
          .bump_epoch = at.idempotent,
          .fate = in_doubt ? fate::unknown : fate::not_written,
          .ended_by = ended_by};
}

retry_decision send_again(const retry_policy& policy, const retry_situation& at, const row& rule) {
  const bool at_once = rule.refresh && at.newer_leader_known;
  return {.action = retry_action::retry,
          .delay = at_once ? duration{} : backoff_after(policy, at.attempts, at.draw),
          .refresh_metadata = rule.refresh};
}

retry_decision wait_for_predecessor(const retry_policy& policy, const retry_situation& at) {
  return {.action = retry_action::wait_for_predecessor,
          .delay = backoff_after(policy, at.attempts, at.draw)};
}

// The outcome can only become "delivered" or "unknown", so the same bytes go out until the
// deadline.
retry_decision settle_doubt(const retry_policy& policy, const retry_situation& at,
                            const row& rule) {
  if (!at.idempotent) return give_up(at, true, limit::none);
  // A younger batch refused for its place in the order learns nothing before the older one is
  // through.
  if (rule.react == reaction::renumber && at.predecessor_unfinished)
    return wait_for_predecessor(policy, at);
  retry_decision decision = send_again(policy, at, rule);
  // Neither a code that only an administrator can heal, nor one that says that the broker remembers
  // something else, is worth asking for often.
  if (!rule.retriable)
    decision.delay = backoff_after(policy, std::numeric_limits<int>::max(), at.draw);
  decision.read_log_first = rule.react == reaction::renumber || at.back_dated;
  return decision;
}

// Proven unwritten in every attempt.
retry_decision react(const retry_policy& policy, const retry_situation& at, const row& rule) {
  switch (rule.react) {
    case reaction::again:
      return send_again(policy, at, rule);
    case reaction::few_times:
      if (at.repeats < corrupt_attempts_max) return send_again(policy, at, rule);
      break;
    case reaction::cut:
      if (at.record_count == 1) break;
      // The halves need a new epoch (L1), which the older batch's retries would not survive.
      if (at.idempotent && at.predecessor_unfinished) return wait_for_predecessor(policy, at);
      return {.action = retry_action::split, .bump_epoch = at.idempotent};
    case reaction::renumber:
      if (!at.idempotent) break;
      if (at.predecessor_unfinished) return wait_for_predecessor(policy, at);
      return {.action = retry_action::bump_and_resend,
              .delay = backoff_after(policy, at.attempts, at.draw),
              .bump_epoch = true,
              .new_producer_id = at.repeats >= bumps_before_new_id};
    case reaction::surrender:
      break;
  }
  return give_up(at, false, limit::none);
}

}  // namespace

duration backoff_after(const retry_policy& policy, int attempts, double draw) noexcept {
  constexpr duration::rep floor = duration{std::chrono::milliseconds{1}}.count();
  constexpr duration::rep ceiling = std::numeric_limits<duration::rep>::max() / 2;
  const duration::rep largest = std::clamp(policy.backoff_max.count(), floor, ceiling);
  const duration::rep first = std::clamp(policy.backoff.count(), floor, largest);
  // Compared by a right shift, because the left shift is what would overflow.
  const int doublings = std::clamp(attempts - 1, 0, 62);
  const duration::rep term = first > (largest >> doublings) ? largest : first << doublings;
  const auto per_mille = static_cast<duration::rep>(800 + 400 * std::clamp(draw, 0.0, 1.0));
  return duration{std::clamp(term / 1000 * per_mille, floor, largest)};
}

retry_decision decide_retry(const retry_policy& policy, const retry_situation& at) {
  const attempt_verdict verdict = judge(at.end);
  PARTITA_EXPECTS(verdict != attempt_verdict::delivered, at.end.code);
  PARTITA_EXPECTS(at.attempts >= 1 && at.repeats >= 1, at.attempts, at.repeats);
  PARTITA_EXPECTS(at.record_count >= 1, at.record_count);

  const bool in_doubt = at.earlier_doubt || doubtful(verdict);
  const row rule = row_of(at.end);
  const retry_decision decision =
      in_doubt ? settle_doubt(policy, at, rule) : react(policy, at, rule);
  if (decision.action == retry_action::give_up) return decision;
  if (at.now >= at.deadline) return give_up(at, in_doubt, limit::delivery_timeout);
  if (at.attempts >= policy.attempts_max) return give_up(at, in_doubt, limit::none);
  return decision;
}

bool retriable(broker_errc code) noexcept { return row_of(code).retriable; }

}  // namespace partita::actors
