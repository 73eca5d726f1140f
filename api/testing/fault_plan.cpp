#include "api/testing/fault_plan.hpp"

#include "api/testing/batch_records.hpp"

#include <algorithm>
#include <array>

namespace partita::testing {
namespace {

bool holds(byte_view records, const std::string& value) {
  bool found = false;
  std::int64_t next = 0;
  visit_records(
      records, [&](const log_record& record) { found = found || record.value == value; }, next);
  return found;
}

bool matches(const fault& wanted, const attempt_view& attempt) {
  return (wanted.topic.empty() || wanted.topic == attempt.topic) &&
         (!wanted.partition || wanted.partition->value == attempt.partition) &&
         (!wanted.broker || wanted.broker->value == attempt.broker) &&
         (wanted.value.empty() || holds(attempt.records, wanted.value));
}

fault with_reply(reply answer) {
  fault made;
  made.reply = answer;
  return made;
}

template <class Value, std::size_t Size>
Value pick(seeded_draws& draws, const std::array<Value, Size>& values) {
  return values[draws.below(Size)];
}

fault refusing(seeded_draws& draws) {
  // Codes that are only raised before the append.
  constexpr std::array codes = {broker_errc::not_enough_replicas, broker_errc::corrupt_message,
                                broker_errc::not_leader_or_follower};
  fault made = with_reply(reply::error);
  made.execution = execution::skip;
  made.code = pick(draws, codes);
  return made;
}

fault doubtful(seeded_draws& draws) {
  constexpr std::array codes = {
      broker_errc::request_timed_out,      broker_errc::not_enough_replicas_after_append,
      broker_errc::not_leader_or_follower, broker_errc::kafka_storage_error,
      broker_errc::unknown_server_error,   broker_errc::unknown_topic_or_partition};
  fault made = with_reply(reply::error);
  made.code = pick(draws, codes);
  made.real_offset = draws.chance(0.5);
  return made;
}

}  // namespace

std::optional<fault> fault_plan::next(const attempt_view& attempt) {
  std::optional<fault> hit;
  for (auto& script : scripted_) {
    if (!matches(script.wanted, attempt)) continue;
    const auto number = script.seen++;
    const bool due = number >= script.wanted.skip_first &&
                     number - script.wanted.skip_first < script.wanted.times;
    if (!due) continue;
    if (hit) {
      --script.seen;  // its turn comes with the next attempt
    } else {
      hit = script.wanted;
    }
  }
  return hit;
}

std::optional<fault> fault_plan::draw(seeded_draws& draws) const {
  if (draws.chance(mix_.lose_request)) {
    auto made = with_reply(reply::close_before);
    made.execution = execution::skip;
    return made;
  }
  if (draws.chance(mix_.lose_answer)) return with_reply(reply::close_before);
  if (draws.chance(mix_.close_after_answer)) return with_reply(reply::close_after);
  if (draws.chance(mix_.refuse)) return refusing(draws);
  if (draws.chance(mix_.append_then_error)) return doubtful(draws);
  if (draws.chance(mix_.delay)) {
    auto made = with_reply(reply::truthful);
    made.answer_after = late(draws);
    return made;
  }
  if (draws.chance(mix_.never_answer)) return with_reply(reply::never);
  if (draws.chance(mix_.execute_late)) {
    auto made = with_reply(reply::close_before);
    made.cut_first = true;
    made.execute_after = late(draws);
    return made;
  }
  if (draws.chance(mix_.corrupt_answer)) {
    constexpr std::array kinds = {reply::wrong_correlation_id, reply::truncated, reply::garbage};
    return with_reply(pick(draws, kinds));
  }
  return std::nullopt;
}

std::chrono::milliseconds fault_plan::late(seeded_draws& draws) const {
  const auto limit = static_cast<std::uint64_t>(std::max<std::int64_t>(1, mix_.delay_max.count()));
  return std::chrono::milliseconds{1 + draws.below(limit)};
}

}  // namespace partita::testing
