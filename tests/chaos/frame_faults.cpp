#include "chaos/frame_faults.hpp"

#include "wire/frame.hpp"
#include "wire/messages/produce.hpp"

#include <iterator>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;

/// Brokers raise these after the append, or nobody knows when.
constexpr broker_errc after_codes[] = {
    broker_errc::request_timed_out, broker_errc::not_enough_replicas_after_append,
    broker_errc::not_leader_or_follower, broker_errc::unknown_server_error};
/// And these only before it.
constexpr broker_errc before_codes[] = {broker_errc::not_enough_replicas,
                                        broker_errc::corrupt_message};

std::int32_t integer_at(std::span<const std::byte> from, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8U | std::to_integer<std::uint32_t>(from[at + i]);
  return static_cast<std::int32_t>(value);
}

bytes flat(wire::encoded_frame&& frame) { return frame.error ? bytes{} : frame.frame.flatten(); }

}  // namespace

std::string_view name(frame_fault fault) noexcept {
  constexpr std::string_view names[frame_faults] = {
      "none",       "drop answer",  "mute",        "delay",         "cut before",
      "cut inside", "execute late", "error after", "error instead", "swallow"};
  return names[static_cast<std::size_t>(fault)];
}

chosen_fault fault_chooser::choose(int per_mille) {
  chosen_fault chosen;
  if (static_cast<int>(random_() % 1000) >= per_mille) return chosen;
  chosen.fault = static_cast<frame_fault>(1 + random_() % (frame_faults - 1));
  switch (chosen.fault) {
    case frame_fault::delay:
      chosen.wait = 20ms + std::chrono::milliseconds(random_() % 1500);
      break;
    case frame_fault::execute_late:
      chosen.wait = 50ms + std::chrono::milliseconds(random_() % 4000);
      break;
    case frame_fault::error_after:
      chosen.code = after_codes[random_() % std::size(after_codes)];
      break;
    case frame_fault::error_instead:
      chosen.code = before_codes[random_() % std::size(before_codes)];
      break;
    default:
      break;
  }
  return chosen;
}

request_view look_at(std::span<const std::byte> request) {
  if (request.size() < 8) return {};
  return {static_cast<std::int16_t>(integer_at(request, 0, 2)),
          static_cast<std::int16_t>(integer_at(request, 2, 2)), integer_at(request, 4, 4)};
}

bytes refusal_of(std::span<const std::byte> request, broker_errc code) {
  const wire::parsed_request parsed = wire::parse_request_header(request);
  if (parsed.failure) return {};
  const auto asked =
      wire::decode_request<wire::produce_request>(parsed.header.version, parsed.body);
  if (!asked.ok()) return {};
  wire::produce_response answer;
  for (const auto& topic : asked.value.topics) {
    auto& told = answer.topics.emplace_back();
    told.name = topic.name;
    told.topic_id = topic.topic_id;
    for (const auto& partition : topic.partitions) {
      auto& one = told.partitions.emplace_back();
      one.index = partition.index;
      one.error_code = code;
    }
  }
  return flat(wire::encode_response(answer, parsed.header.version, parsed.header.correlation_id));
}

bytes with_code(std::span<const std::byte> answer, std::int16_t version, broker_errc code) {
  if (answer.size() < 4) return {};
  auto told = wire::decode_response<wire::produce_response>(version, answer.subspan(4));
  if (!told.ok()) return {};
  for (auto& topic : told.value.topics)
    for (auto& partition : topic.partitions)
      if (partition.error_code == broker_errc::none) partition.error_code = code;
  return flat(wire::encode_response(told.value, version, integer_at(answer, 0, 4)));
}

}  // namespace partita::chaos
