#include "api/testing/api_fault_plan.hpp"

#include <algorithm>
#include <array>

namespace partita::testing {
namespace {

using told_topic = wire::metadata_response::topic;
using told_partition = wire::metadata_response::partition;

constexpr std::int32_t partitions_max = 100'000;  // of an invented topic

void lie_about(told_partition& truth, const metadata_lie& lie) {
  if (lie.leader) {
    truth.leader = *lie.leader;
    truth.error_code = lie.leader->known() ? broker_errc::none : broker_errc::leader_not_available;
  }
  if (lie.leader_epoch) truth.leader_epoch = *lie.leader_epoch;
  if (lie.partition_code) truth.error_code = *lie.partition_code;
}

void lie_about(told_topic& truth, const metadata_lie& lie) {
  if (lie.topic_code) {
    truth.error_code = *lie.topic_code;
    if (truth.error_code != broker_errc::none) truth.partitions.clear();
  }
  if (lie.without_topic_id) truth.topic_id = {};
  if (lie.other_topic_id) truth.topic_id = *lie.other_topic_id;
  if (lie.partition_count) {
    const auto count = std::clamp(*lie.partition_count, 0, partitions_max);
    while (std::cmp_less(truth.partitions.size(), count)) {
      told_partition invented;
      invented.index = static_cast<std::int32_t>(truth.partitions.size());
      invented.error_code = broker_errc::leader_not_available;
      truth.partitions.push_back(std::move(invented));
    }
    truth.partitions.resize(static_cast<std::size_t>(count));
  }
  const auto meant = [&](const told_partition& one) {
    return !lie.partition || *lie.partition == one.index;
  };
  if (lie.leave_out_partition) std::erase_if(truth.partitions, meant);
  for (auto& one : truth.partitions)
    if (meant(one)) lie_about(one, lie);
}

}  // namespace

void api_fault_plan::clear() {
  faults_.clear();
  lies_.clear();
  disturb_ = 0;
}

std::optional<api_fault> api_fault_plan::next(std::int16_t key, std::int32_t broker,
                                              seeded_draws& draws) {
  std::optional<api_fault> hit;
  for (auto& script : faults_) {
    const auto& wanted = script.wanted;
    const bool matches = (wanted.api == api::any || static_cast<std::int16_t>(wanted.api) == key) &&
                         (!wanted.broker || wanted.broker->value == broker);
    if (!matches) continue;
    if (!script.count()) continue;
    if (hit) {
      --script.seen;  // its turn comes with the next request
    } else {
      hit = wanted;
    }
  }
  return hit ? hit : draw(draws);
}

std::optional<api_fault> api_fault_plan::draw(seeded_draws& draws) const {
  if (!draws.chance(disturb_)) return std::nullopt;
  constexpr std::array replies = {reply::error, reply::close_before, reply::reset, reply::never,
                                  reply::truthful};
  constexpr std::array codes = {broker_errc::coordinator_load_in_progress,
                                broker_errc::coordinator_not_available,
                                broker_errc::leader_not_available};
  api_fault made;
  made.reply = replies[draws.below(replies.size())];
  if (made.reply == reply::error) made.code = codes[draws.below(codes.size())];
  if (made.reply == reply::truthful)
    made.answer_after = std::chrono::milliseconds{1 + draws.below(1000)};
  return made;
}

bool api_fault_plan::lie(wire::metadata_response& truth, std::int32_t broker) {
  bool lied = false;
  for (auto& script : lies_) {
    const auto& wanted = script.wanted;
    if (wanted.broker && wanted.broker->value != broker) continue;
    const auto meant = [&](const told_topic& topic) {
      return wanted.topic.empty() || topic.name == wanted.topic;
    };
    if (std::none_of(truth.topics.begin(), truth.topics.end(), meant)) continue;
    if (!script.count()) continue;
    lied = true;
    if (wanted.leave_out_topic) {
      std::erase_if(truth.topics, meant);
      continue;
    }
    for (auto& topic : truth.topics)
      if (meant(topic)) lie_about(topic, wanted);
  }
  return lied;
}

}  // namespace partita::testing
