// The second half of produce_service: what becomes of the answer once the request is settled.
#include "api/testing/cluster_core.hpp"
#include "api/testing/lenient_decode.hpp"
#include "api/testing/produce_service.hpp"
#include "api/testing/spoiled_frame.hpp"

#include <algorithm>

namespace partita::testing {
namespace {

// Versions 0 and 1, which messages do not describe: no log append time, and in 0 no throttle time.
std::vector<std::byte> encode_oldest(const wire::produce_response& answer, std::int16_t version,
                                     std::int32_t correlation_id) {
  std::vector<std::byte> bytes(4);
  const auto put = [&](auto number) {
    for (std::size_t i = sizeof number; i-- > 0;)
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff));
  };
  put(correlation_id);
  put(static_cast<std::int32_t>(answer.topics.size()));
  for (const auto& topic : answer.topics) {
    put(static_cast<std::int16_t>(topic.name.size()));
    for (const char c : topic.name) put(static_cast<std::int8_t>(c));
    put(static_cast<std::int32_t>(topic.partitions.size()));
    for (const auto& part : topic.partitions) {
      put(part.index.value);
      put(static_cast<std::int16_t>(part.error_code));
      put(part.base_offset.value);
    }
  }
  if (version == 1) put(answer.throttle_time_ms);
  const auto length = bytes.size() - 4;
  for (std::size_t i = 0; i < 4; ++i)
    bytes[i] = static_cast<std::byte>(length >> (24 - 8 * i) & 0xff);
  return bytes;
}

}  // namespace

void produce_service::finish(operation& work) {
  for (auto& one : work.parts) {
    if (!one.hit) continue;
    if (one.hit->reply == reply::error) {
      const auto base = one.hit->real_offset ? one.result.base_offset : -1;
      one.result = produce_result::refused(one.hit->code);
      one.result.base_offset = base;
    }
    if (one.hit->base_offset) one.result.base_offset = one.hit->base_offset->value;
  }
  const auto answer = work.hit ? work.hit->reply : reply::truthful;
  if (answer == reply::lost) {
    core_.silence(work.connection);
    core_.reply_nothing(work.connection);
    return;
  }
  if (answer == reply::never) {
    core_.block(work.connection);
    return;
  }
  if (answer == reply::close_before || answer == reply::reset) {
    core_.close(work.connection, answer == reply::reset);
    return;
  }
  const auto wait = work.hit ? std::chrono::nanoseconds{work.hit->answer_after}.count() : 0;
  if (wait <= 0) {
    send(work);
  } else {
    core_.at(core_.now().steady_ns + wait,
             [this, later = std::make_shared<operation>(std::move(work))] { send(*later); });
  }
}

void produce_service::send(const operation& work) {
  const auto answer = work.hit ? work.hit->reply : reply::truthful;
  if (work.acks == 0) {
    const bool failed = std::any_of(work.parts.begin(), work.parts.end(), [](const part& one) {
      return one.result.code != broker_errc::none;
    });
    if (failed || answer == reply::close_after) {
      core_.close(work.connection, false);
    } else {
      core_.reply_nothing(work.connection);
    }
    return;
  }
  tell_answered(work);
  const auto id =
      answer == reply::wrong_correlation_id ? work.correlation_id + 1 : work.correlation_id;
  auto bytes = work.asked_version < 2 ? encode_oldest(response(work), work.asked_version, id)
                                      : encode_answer(response(work), work.version, id);
  if (work.hit) spoil(bytes, answer, work.hit->cut_at, core_.state().draws());
  if (answer == reply::close_after || answer == reply::cut_answer) {
    core_.send_only(work.connection, std::move(bytes));
    core_.close(work.connection, answer == reply::cut_answer);
  } else if (work.hit && work.hit->throttle.count() > 0) {  // answered at once, then muted
    core_.send_only(work.connection, std::move(bytes));
    core_.at(core_.now().steady_ns + std::chrono::nanoseconds{work.hit->throttle}.count(),
             [this, connection = work.connection] { core_.reply_nothing(connection); });
  } else {
    core_.reply(work.connection, std::move(bytes));
  }
}

wire::produce_response produce_service::response(const operation& work) const {
  wire::produce_response made;
  if (work.hit) made.throttle_time_ms = static_cast<std::int32_t>(work.hit->throttle.count());
  for (const auto& one : work.parts) {
    const auto same = [&](const auto& topic) {
      return work.version >= 13 ? topic.topic_id == one.id : topic.name == one.topic;
    };
    auto topic = std::find_if(made.topics.begin(), made.topics.end(), same);
    if (topic == made.topics.end()) {
      made.topics.push_back({one.topic, one.id, {}});
      topic = std::prev(made.topics.end());
    }
    auto& part = topic->partitions.emplace_back();
    part.index = one.index;
    part.error_code = one.result.code;
    part.base_offset = one.result.base_offset;
    part.log_append_time_ms = one.result.log_append_ms;
    part.log_start_offset = one.result.log_start;
    for (const auto& bad : one.result.record_faults)
      part.record_errors.push_back({bad.index, bad.message});
    part.error_message = one.result.message;
    if (one.result.code != broker_errc::not_leader_or_follower) continue;
    const auto* partition = core_.state().partition(one.topic, one.index);
    if (partition == nullptr) continue;
    part.current_leader = {partition->leader(), partition->leader_epoch()};
    const auto* leader = core_.state().broker(partition->leader());
    const bool told = std::any_of(
        made.node_endpoints.begin(), made.node_endpoints.end(),
        [&](const auto& node) { return node.node_id == broker_id{partition->leader()}; });
    if (leader != nullptr && !told)
      made.node_endpoints.push_back({leader->id, leader->host, leader->port, std::nullopt});
  }
  if (work.hit) reshape(made, work.hit->shape);
  return made;
}

// Other entries than were asked for. The first partition is the one it happens to.
void produce_service::reshape(wire::produce_response& made, answer_shape shape) {
  if (made.topics.empty() || shape == answer_shape::usual) return;
  auto& partitions = made.topics.front().partitions;
  auto odd = partitions.front();
  if (shape == answer_shape::left_out) {
    partitions.erase(partitions.begin());
  } else if (shape == answer_shape::other_topic) {
    made.topics.push_back({"nobody-asked", {~0ULL, ~0ULL}, {odd}});
  } else {
    if (shape == answer_shape::other_partition) odd.index = 7000;
    if (shape == answer_shape::twice) odd.error_code = broker_errc::topic_authorization_failed;
    partitions.push_back(odd);
  }
}

}  // namespace partita::testing
