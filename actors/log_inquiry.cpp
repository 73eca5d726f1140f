#include "actors/log_inquiry.hpp"

#include "actors/instant.hpp"
#include "actors/lane.hpp"
#include "wire/messages/fetch.hpp"
#include "wire/messages/list_offsets.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace partita::actors {
namespace {

/// From these versions on a leader checks the epoch it is asked under (KIP-320); without that an
/// old leader could say "absent".
constexpr std::int16_t list_offsets_with_epoch = 4;
constexpr std::int16_t fetch_with_epoch = 9;
constexpr std::int16_t fetch_by_topic_id = 13;

constexpr std::int32_t fetch_bytes = 1 << 20;

duration wait_before_next(int waits) {
  constexpr duration first = std::chrono::milliseconds(20);
  constexpr duration longest = std::chrono::seconds(1);
  return std::min(longest, first * (1 << std::min(waits, 10)));
}

}  // namespace

log_inquiry::log_inquiry(log_place place, log_question question, lane& home, channel_call submit,
                         std::function<void(log_findings)> tell)
    : place_(std::move(place)),
      search_(std::move(question)),
      home_(home),
      submit_(std::move(submit)),
      tell_(std::move(tell)),
      wait_timer_(
          [](timer_node& node) noexcept {
            auto* self = static_cast<log_inquiry*>(node.owner);
            self->perform(self->search_.waited());
          },
          this) {}

log_inquiry::~log_inquiry() { home_.cancel(wait_timer_); }

void log_inquiry::perform(search_step step) {
  if (auto* end = std::get_if<log_findings>(&step)) return finish(std::move(*end));
  step_ = std::move(step);
  if (std::holds_alternative<await_log>(step_))
    return home_.arm(wait_timer_, home_.now() + wait_before_next(waits_++));
  submit_(*this);
}

void log_inquiry::finish(log_findings findings) { tell_(std::move(findings)); }

// Requests

bool log_inquiry::ask(connection& at, std::uint64_t cookie) {
  if (const auto* wanted = std::get_if<ask_offset>(&step_))
    return ask_for_offset(at, cookie, *wanted);
  return ask_for_records(at, cookie, std::get<ask_records>(step_));
}

bool log_inquiry::ask_for_offset(connection& at, std::uint64_t cookie,
                                 const ask_offset& wanted) const {
  const auto version = at.version_of(wire::api_key::list_offsets);
  if (!version || *version < list_offsets_with_epoch) return false;
  wire::list_offsets_request request;
  if (wanted.log_end) request.replica_id = wire::debugging_replica;
  request.topics.push_back(
      {place_.topic, {{place_.partition, search_.question().epoch, wanted.timestamp}}});
  return at.request(request, cookie);
}

bool log_inquiry::ask_for_records(connection& at, std::uint64_t cookie,
                                  const ask_records& wanted) const {
  auto version = at.version_of(wire::api_key::fetch);
  if (!version || *version < fetch_with_epoch) return false;
  // Without its id the topic can be named up to the version before.
  if (place_.identity == topic_id())
    version = std::min<std::int16_t>(*version, fetch_by_topic_id - 1);
  wire::fetch_request request;
  request.max_bytes = fetch_bytes;
  wire::fetch_request::partition part;
  part.index = place_.partition;
  part.current_leader_epoch = search_.question().epoch;
  part.fetch_offset = wanted.from;
  part.partition_max_bytes = fetch_bytes;
  request.topics.push_back({place_.topic, place_.identity, {part}});
  wire::encoded_frame encoded =
      wire::encode_request(request, *version, 0, std::string_view(at.client_id()));
  if (encoded.error) return false;
  at.send(std::move(encoded.frame), wire::api_key::fetch, *version, cookie);
  return true;
}

// Answers

void log_inquiry::answered(const wire::session_answer& answer, std::int16_t version,
                           connection& from) {
  if (std::holds_alternative<ask_offset>(step_))
    take_offset(answer, version, from);
  else
    take_records(answer, version, from);
}

void log_inquiry::take_offset(const wire::session_answer& answer, std::int16_t version,
                              connection& from) {
  const auto decoded = wire::decode_response<wire::list_offsets_response>(version, answer.body());
  if (!decoded.ok()) return distrust(from, decoded.failure.describe("ListOffsets", version));
  const auto& topics = decoded.value.topics;
  if (topics.size() != 1 || topics[0].name != place_.topic || topics[0].partitions.size() != 1 ||
      topics[0].partitions[0].index != place_.partition)
    return distrust(from, "ListOffsets: not for the partition that was asked for");
  const auto& part = topics[0].partitions[0];
  perform(search_.offset_answered(part.error_code, part.offset));
}

void log_inquiry::take_records(const wire::session_answer& answer, std::int16_t version,
                               connection& from) {
  const auto decoded = wire::decode_response<wire::fetch_response>(version, answer.body());
  if (!decoded.ok()) return distrust(from, decoded.failure.describe("Fetch", version));
  if (decoded.value.error_code != broker_errc::none)
    return perform(search_.records_answered(decoded.value.error_code, offset(), {}));
  const auto& topics = decoded.value.topics;
  const bool asked_for = topics.size() == 1 && topics[0].partitions.size() == 1 &&
                         topics[0].partitions[0].index == place_.partition &&
                         (version < fetch_by_topic_id ? topics[0].name == place_.topic
                                                      : topics[0].topic_id == place_.identity);
  if (!asked_for) return distrust(from, "Fetch: not for the partition that was asked for");
  const auto& part = topics[0].partitions[0];
  perform(search_.records_answered(part.error_code, part.log_start_offset, part.records.view()));
}

void log_inquiry::distrust(connection& from, const std::string& what) {
  const std::error_code reason = client_errc::malformed_answer;
  from.distrust(reason, what);
  finish(search_.abandoned(search_end::interrupted, reason));
}

void log_inquiry::unanswered(std::error_code why) {
  const bool too_old = why == client_errc::unsupported_version;
  finish(search_.abandoned(too_old ? search_end::undecidable : search_end::interrupted, why));
}

}  // namespace partita::actors
