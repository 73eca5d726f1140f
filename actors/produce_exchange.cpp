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
  sent.broker_text.clear();
  sent.faults.clear();
  if (answer.error_code == broker_errc::none) return;
  sent.broker_text = kept_text(answer.error_message);
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

void produce_exchange::clear() noexcept {
  partitions_ = 0;
  for (auto& topic : request_.topics) topic.partitions.clear();
  for (auto& topic : sent_) topic.clear();
}

bool produce_exchange::ids_known() const noexcept {
  return std::all_of(request_.topics.begin(), request_.topics.end(), [](const auto& each) {
    return each.topic_id.known() || each.partitions.empty();
  });
}

void produce_exchange::add(const std::string& topic, topic_id identity, partition_id index,
                           batch& sent) {
  std::size_t at = 0;
  while (at < sent_.size() &&
         (request_.topics[at].topic_id != identity || request_.topics[at].name != topic))
    ++at;
  if (at == sent_.size()) {
    request_.topics.push_back({topic, identity, {}});
    sent_.emplace_back();
  }
  request_.topics[at].partitions.push_back({index, wire::record_bytes(sent.bytes().bytes())});
  sent_[at].push_back(&sent);
  ++partitions_;
}

bool produce_exchange::carries(const batch& sent) const noexcept {
  bool found = false;
  for_each([&](const batch& each) { found = found || &each == &sent; });
  return found;
}

void produce_exchange::drop_topics_of_before() {
  std::erase_if(request_.topics, [](const auto& each) { return each.partitions.empty(); });
  std::erase_if(sent_, [](const auto& each) { return each.empty(); });
}

wire::encoded_frame produce_exchange::encode(std::int16_t version, acks required,
                                             std::chrono::milliseconds timeout,
                                             std::string_view client_id) {
  drop_topics_of_before();
  request_.acks = static_cast<std::int16_t>(required);
  request_.timeout_ms = static_cast<std::int32_t>(timeout.count());
  return wire::encode_request(request_, version, 0, client_id);
}

std::size_t produce_exchange::find(const wire::produce_response::topic_answer& topic,
                                   std::int16_t version) const noexcept {
  for (std::size_t at = 0; at < request_.topics.size(); ++at) {
    const auto& asked = request_.topics[at];
    if (version >= 13 ? asked.topic_id == topic.topic_id : asked.name == topic.name) return at;
  }
  return not_asked;
}

std::string produce_exchange::match(const wire::produce_response& answer,
                                    std::int16_t version) const {
  for_each([](batch& sent) {
    sent.note = attempt_note{attempt_end::answer_lost(), -1, client_errc::answer_lost};
  });

  for (const auto& topic : answer.topics) {
    const std::size_t place = find(topic, version);
    if (place == not_asked) return "an answer for topic '" + topic.name + "', which was not asked";
    const auto& asked = request_.topics[place];
    // Brokers answer in the order of the request, so the next part is nearly always the right one.
    std::size_t expected = 0;
    for (const auto& partition : topic.partitions) {
      std::size_t at = expected;
      if (at >= asked.partitions.size() || asked.partitions[at].index != partition.index) {
        at = 0;
        while (at < asked.partitions.size() && asked.partitions[at].index != partition.index) ++at;
      }
      if (at == asked.partitions.size()) {
        return "an answer for partition " + std::to_string(partition.index.value) + " of '" +
               asked.name + "', which was not asked";
      }
      batch& sent = *sent_[place][at];
      if (sent.note.end.stage == attempt_stage::answered)
        return "two answers for partition " + std::to_string(partition.index.value) + " of '" +
               asked.name + "'";
      sent.note = attempt_note{attempt_end::answered(partition.error_code, partition.base_offset),
                               partition.log_append_time_ms, partition.error_code};
      note_words(sent, partition);
      expected = at + 1;
    }
  }

  if (planted(mutant::one_answer_for_all) && partitions_ > 0)
    for_each([first = sent_.front().front()](batch& sent) { sent.note = first->note; });
  return {};
}

leader_hints produce_exchange::hints(const wire::produce_response& answer,
                                     std::int16_t version) const {
  leader_hints found;
  for (const auto& topic : answer.topics) {
    for (const auto& each : topic.partitions) {
      if (each.error_code != broker_errc::not_leader_or_follower ||
          !each.current_leader.leader.known() || !each.current_leader.leader_epoch.known())
        continue;
      const std::size_t place = find(topic, version);
      if (place == not_asked) break;
      const auto& asked = request_.topics[place];
      found.leaders.push_back({asked.name, asked.topic_id, each.index, each.current_leader.leader,
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
