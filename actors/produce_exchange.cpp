#include "actors/produce_exchange.hpp"

#include "wire/mutant.hpp"
#include <algorithm>

namespace partita::actors {
namespace {

/// A peer's words are kept for the failures of the records; not without end.
std::string kept_text(const std::optional<std::string>& text) {
  constexpr std::size_t length_max = 500;
  return text ? text->substr(0, length_max) : std::string();
}

/// What a refusal says about single records; positions that the batch does not have are dropped.
void note_words(batch& sent, const wire::produce_response::partition_answer& answer) {
  sent.broker_text = kept_text(answer.error_message);
  sent.faults.clear();
  if (answer.error_code == broker_errc::none) return;
  for (const auto& each : answer.record_errors)
    if (each.batch_index >= 0 && static_cast<std::size_t>(each.batch_index) < sent.count())
      sent.faults.push_back(
          {static_cast<std::uint32_t>(each.batch_index), kept_text(each.message)});
  std::stable_sort(sent.faults.begin(), sent.faults.end(),
                   [](const auto& a, const auto& b) { return a.position < b.position; });
  const auto doubles =
      std::unique(sent.faults.begin(), sent.faults.end(),
                  [](const auto& a, const auto& b) { return a.position == b.position; });
  sent.faults.erase(doubles, sent.faults.end());
}

}  // namespace

bool produce_exchange::ids_known() const noexcept {
  return std::all_of(topics_.begin(), topics_.end(),
                     [](const topic_part& each) { return each.identity.known(); });
}

void produce_exchange::add(const std::string& topic, topic_id identity, partition_id index,
                           batch& sent) {
  auto found = std::find_if(topics_.begin(), topics_.end(), [&](const topic_part& each) {
    return each.identity == identity && each.name == topic;
  });
  if (found == topics_.end()) {
    topics_.push_back({topic, identity, {}});
    found = std::prev(topics_.end());
  }
  found->partitions.push_back({index, &sent});
  ++partitions_;
}

bool produce_exchange::carries(const batch& sent) const noexcept {
  bool found = false;
  for_each([&](const batch& each) { found = found || &each == &sent; });
  return found;
}

wire::encoded_frame produce_exchange::encode(std::int16_t version, acks required,
                                             std::chrono::milliseconds timeout,
                                             std::string_view client_id) const {
  wire::produce_request request;
  request.acks = static_cast<std::int16_t>(required);
  request.timeout_ms = static_cast<std::int32_t>(timeout.count());
  request.topics.reserve(topics_.size());
  for (const topic_part& topic : topics_) {
    wire::produce_request::topic_data data{topic.name, topic.identity, {}};
    data.partitions.reserve(topic.partitions.size());
    for (const part& each : topic.partitions)
      data.partitions.push_back({each.index, wire::record_bytes(each.sent->bytes().bytes())});
    request.topics.push_back(std::move(data));
  }
  return wire::encode_request(request, version, 0, client_id);
}

const produce_exchange::topic_part* produce_exchange::find(
    const wire::produce_response::topic_answer& topic, std::int16_t version) const noexcept {
  for (const topic_part& each : topics_)
    if (version >= 13 ? each.identity == topic.topic_id : each.name == topic.name) return &each;
  return nullptr;
}

std::string produce_exchange::match(const wire::produce_response& answer,
                                    std::int16_t version) const {
  for_each([](batch& sent) {
    sent.note = attempt_note{attempt_end::answer_lost(), -1, client_errc::answer_lost};
  });

  for (const auto& topic : answer.topics) {
    const topic_part* asked = find(topic, version);
    if (asked == nullptr) return "an answer for topic '" + topic.name + "', which was not asked";
    // Brokers answer in the order of the request, so the next part is nearly always the right one.
    std::size_t expected = 0;
    for (const auto& partition : topic.partitions) {
      std::size_t at = expected;
      if (at >= asked->partitions.size() || asked->partitions[at].index != partition.index) {
        at = 0;
        while (at < asked->partitions.size() && asked->partitions[at].index != partition.index)
          ++at;
      }
      if (at == asked->partitions.size()) {
        return "an answer for partition " + std::to_string(partition.index.value) + " of '" +
               asked->name + "', which was not asked";
      }
      batch& sent = *asked->partitions[at].sent;
      if (sent.note.end.stage == attempt_stage::answered)
        return "two answers for partition " + std::to_string(partition.index.value) + " of '" +
               asked->name + "'";
      sent.note = attempt_note{attempt_end::answered(partition.error_code, partition.base_offset),
                               partition.log_append_time_ms, partition.error_code};
      note_words(sent, partition);
      expected = at + 1;
    }
  }

  if (planted(mutant::one_answer_for_all) && partitions_ > 0)
    for_each([first = topics_.front().partitions.front().sent](batch& sent) {
      sent.note = first->note;
    });
  return {};
}

leader_hints produce_exchange::hints(const wire::produce_response& answer,
                                     std::int16_t version) const {
  leader_hints found;
  for (const auto& topic : answer.topics) {
    const topic_part* asked = find(topic, version);
    for (const auto& each : topic.partitions) {
      if (asked == nullptr || each.error_code != broker_errc::not_leader_or_follower ||
          !each.current_leader.leader.known() || !each.current_leader.leader_epoch.known())
        continue;
      found.leaders.push_back({asked->name, asked->identity, each.index, each.current_leader.leader,
                               each.current_leader.leader_epoch});
    }
  }
  if (found.empty()) return found;
  for (const auto& node : answer.node_endpoints) {
    if (!node.node_id.known() || node.host.empty() || node.port < 1 || node.port > 65535) continue;
    found.endpoints.push_back({node.node_id, node.host, node.port, node.rack.value_or("")});
  }
  return found;
}

}  // namespace partita::actors
