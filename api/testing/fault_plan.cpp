#include "api/testing/fault_plan.hpp"

#include <array>

namespace partita::testing {
namespace {

bool matches(const fault& wanted, std::string_view topic, std::int32_t partition,
             std::int32_t broker) {
  return (wanted.topic.empty() || wanted.topic == topic) &&
         (!wanted.partition || wanted.partition->value == partition) &&
         (!wanted.broker || wanted.broker->value == broker);
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

std::optional<fault> fault_plan::next(std::string_view topic, std::int32_t partition,
                                      std::int32_t broker) {
  std::optional<fault> hit;
  for (auto& script : scripted_) {
    if (!matches(script.wanted, topic, partition, broker)) continue;
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
    const auto limit =
        static_cast<std::uint64_t>(std::max<std::int64_t>(1, mix_.delay_max.count()));
    made.answer_after = std::chrono::milliseconds{1 + draws.below(limit)};
    return made;
  }
  if (draws.chance(mix_.never_answer)) return with_reply(reply::never);
  if (draws.chance(mix_.corrupt_answer)) {
    constexpr std::array kinds = {reply::wrong_correlation_id, reply::truncated, reply::garbage};
    return with_reply(pick(draws, kinds));
  }
  return std::nullopt;
}

}  // namespace partita::testing
