#include "api/testing/broker_apis.hpp"

#include <algorithm>
#include <set>

namespace partita::testing {
namespace {

constexpr std::int32_t topic_operations = 3576;    // read, write, create, delete ... of a topic
constexpr std::int32_t cluster_operations = 3968;  // create, alter, describe ... of a cluster

bool valid_software_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && letter(name.front()) && letter(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '.'; });
}

std::vector<broker_id> ids(const std::vector<std::int32_t>& brokers) {
  return {brokers.begin(), brokers.end()};
}

// A zombie tells what it believes.
void believe(wire::metadata_response& answer, const cluster_state& state, std::int32_t broker) {
  for (auto& topic : answer.topics)
    for (auto& partition : topic.partitions)
      if (const auto belief =
              state.believed_leader(broker, topic.name.value_or(""), partition.index.value)) {
        partition.leader = belief->first;
        partition.leader_epoch = belief->second;
      }
}

wire::metadata_response::partition describe(const partition_model& partition) {
  wire::metadata_response::partition made;
  made.index = partition.index();
  made.leader = partition.leader();
  made.leader_epoch = partition.leader_epoch();
  if (partition.leader() < 0) made.error_code = broker_errc::leader_not_available;
  for (const auto& replica : partition.replicas()) {
    made.replicas.emplace_back(replica.broker);
    if (!replica.running) made.offline.emplace_back(replica.broker);
  }
  made.in_sync = ids(partition.in_sync());
  return made;
}

/// As bits, each at the number of its operation.
std::int32_t allowed_operations(const cluster_state& state, const std::string& topic) {
  constexpr std::int32_t read_bit = 1 << 3;
  constexpr std::int32_t write_bit = 1 << 4;
  std::int32_t allowed = topic_operations;
  if (state.denied(right::read, topic)) allowed &= ~read_bit;
  if (state.denied(right::write, topic)) allowed &= ~write_bit;
  return allowed;
}

wire::metadata_response::topic describe(const cluster_state& state, const topic_state& topic,
                                        bool operations) {
  wire::metadata_response::topic made;
  made.name = topic.name;
  made.topic_id = topic.id;
  made.is_internal = topic.internal;
  if (operations) made.authorized_operations = allowed_operations(state, topic.name);
  for (const auto& partition : topic.partitions) made.partitions.push_back(describe(partition));
  return made;
}

wire::metadata_response::topic find(cluster_state& state,
                                    const wire::metadata_request::topic& asked, bool create,
                                    bool operations) {
  wire::metadata_response::topic missing;
  if (!asked.name) {
    if (const auto* found = state.topic(asked.topic_id)) return describe(state, *found, operations);
    missing.error_code = broker_errc::unknown_topic_id;
    missing.topic_id = asked.topic_id;
    return missing;
  }
  missing.name = asked.name;
  if (!valid_topic_name(*asked.name)) {
    missing.error_code = broker_errc::invalid_topic_exception;
    return missing;
  }
  if (state.denied(right::describe, *asked.name)) {
    missing.error_code = broker_errc::topic_authorization_failed;
    return missing;
  }
  if (const auto* found = state.topic(*asked.name)) return describe(state, *found, operations);
  // The topic exists a moment later; this answer still says that it does not.
  if (create && state.options().auto_create_topics)
    state.create_topic(*asked.name, {.partitions = state.options().auto_create_partitions});
  missing.error_code = broker_errc::unknown_topic_or_partition;
  return missing;
}

bool same_topic(const wire::metadata_response::topic& left,
                const wire::metadata_response::topic& right) {
  return left.name == right.name && left.topic_id == right.topic_id;
}

}  // namespace

wire::api_versions_response unknown_api_versions(const cluster_state& state) {
  wire::api_versions_response made;
  made.error_code = broker_errc::unsupported_version;
  for (const auto& [key, range] : state.offered())
    if (key == static_cast<std::int16_t>(wire::api_key::api_versions))
      made.apis.push_back({key, range.first, range.last});
  return made;
}

wire::api_versions_response answer(cluster_state& state, const call& call,
                                   const wire::api_versions_request& request) {
  wire::api_versions_response made;
  if (call.version >= 3 && (!valid_software_name(request.client_software_name) ||
                            !valid_software_name(request.client_software_version))) {
    made.error_code = broker_errc::invalid_request;
    return made;
  }
  for (const auto& [key, range] : state.offered())
    made.apis.push_back({key, range.first, range.last});
  if (call.version < 3) return made;  // no features there
  made.supported_features = {{"metadata.version", 7, 29}};
  made.finalized_features_epoch = 1;
  made.finalized_features = {{"metadata.version", 29, 29}};
  if (state.options().version < emulation::kafka_4_2) return made;
  // A range that begins at 0 can not be told in version 3 (KIP-584), so it is left out there.
  if (call.version >= 4) made.supported_features.push_back({"transaction.version", 0, 2});
  made.finalized_features.push_back({"transaction.version", 2, 2});
  return made;
}

wire::metadata_response answer(cluster_state& state, const call& call,
                               const wire::metadata_request& request) {
  wire::metadata_response made;
  made.cluster_id = state.options().cluster_id;
  made.controller = state.controller();
  for (const auto& broker : state.brokers())
    if (broker.running) made.brokers.push_back({broker.id, broker.host, broker.port, std::nullopt});
  if (request.include_cluster_authorized_operations)
    made.cluster_authorized_operations = cluster_operations;
  const bool operations = request.include_topic_authorized_operations;
  const bool all = !request.topics || (call.version == 0 && request.topics->empty());
  if (all) {
    for (const auto& [name, topic] : state.topics())
      if (!state.denied(right::describe, name))
        made.topics.push_back(describe(state, topic, operations));
    believe(made, state, call.broker);
    return made;
  }
  for (const auto& asked : *request.topics) {
    auto entry = find(state, asked, request.allow_auto_topic_creation, operations);
    const bool twice = std::any_of(made.topics.begin(), made.topics.end(),
                                   [&](const auto& other) { return same_topic(other, entry); });
    if (!twice) made.topics.push_back(std::move(entry));
  }
  believe(made, state, call.broker);
  return made;
}

}  // namespace partita::testing
