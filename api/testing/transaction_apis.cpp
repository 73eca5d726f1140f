// The answers of a transaction coordinator.
#include "api/testing/broker_apis.hpp"

namespace partita::testing {
namespace {

constexpr std::int32_t transaction_timeout_max_ms = 900'000;
constexpr auto invalid_transaction_timeout = broker_errc{50};
constexpr auto operation_not_attempted = broker_errc{55};
constexpr std::string_view transaction_log = "__transaction_state";

bool knows(cluster_state& state, std::string_view name, std::int32_t index) {
  auto* topic = state.topic(name);
  return topic != nullptr && topic->partition(index) != nullptr;
}

using asked_topics = std::vector<add_partitions_to_txn_request::topic>;
using told_topics = std::vector<add_partitions_to_txn_response::topic>;

// `pick` gives the code of each partition.
template <class Pick>
told_topics each(const asked_topics& asked, Pick&& pick) {
  told_topics made;
  for (const auto& topic : asked) {
    auto& entry = made.emplace_back();
    entry.name = topic.name;
    for (const auto index : topic.partitions)
      entry.partitions.push_back({index, pick(topic, index)});
  }
  return made;
}

// All partitions take part, or none does.
told_topics add_all(cluster_state& state, const call& call, const std::string& id,
                    std::int64_t producer_id, std::int16_t epoch, bool verify_only,
                    const asked_topics& asked) {
  auto code = call.broker == state.controller() ? state.transactions().check(id, producer_id, epoch)
                                                : broker_errc::not_coordinator;
  if (code != broker_errc::none)
    return each(asked, [&](const auto&, std::int32_t) { return code; });
  bool all = true;
  for (const auto& topic : asked)
    for (const auto index : topic.partitions) all = all && knows(state, topic.name, index);
  return each(asked, [&](const auto& topic, std::int32_t index) {
    if (!all)
      return knows(state, topic.name, index) ? operation_not_attempted
                                             : broker_errc::unknown_topic_or_partition;
    if (!verify_only) state.transactions().add(id, topic.name, index, call.now);
    return broker_errc::none;
  });
}

}  // namespace

wire::init_producer_id_response answer(cluster_state& state, const call& call,
                                       const wire::init_producer_id_request& request) {
  wire::init_producer_id_response made;
  if (request.producer_id.known() != request.producer_epoch.known() ||
      (request.transactional_id && request.transactional_id->empty())) {
    made.error_code = broker_errc::invalid_request;
    return made;
  }
  if (!request.transactional_id && state.denied(right::idempotent_write, {})) {
    made.error_code = broker_errc::cluster_authorization_failed;
    return made;
  }
  if (const auto scripted = state.take_scripted_id()) {
    made.producer_id = scripted->first;
    made.producer_epoch = scripted->second;
    return made;
  }
  if (!request.transactional_id) {  // the fields are ignored: an id is always new (PID-02)
    made.producer_id = state.take_producer_id(call.broker);
    made.producer_epoch = 0;
    return made;
  }
  if (call.broker != state.controller()) {
    made.error_code = broker_errc::not_coordinator;
    return made;
  }
  if (request.transaction_timeout_ms <= 0 ||
      request.transaction_timeout_ms > transaction_timeout_max_ms) {
    made.error_code = invalid_transaction_timeout;
    return made;
  }
  const auto found = state.transactions().init(
      *request.transactional_id, request.producer_id.value, request.producer_epoch.value,
      request.transaction_timeout_ms, call.version >= 4, call.broker, call.now);
  made.error_code = found.code;
  made.producer_id = found.producer_id;
  made.producer_epoch = found.epoch;
  return made;
}

find_coordinator_response answer(cluster_state& state, const call& call,
                                 const find_coordinator_request& request) {
  constexpr std::int8_t group = 0;
  constexpr std::int8_t transaction = 1;
  if (request.type == transaction && state.topic(transaction_log) == nullptr) {
    state.create_topic(transaction_log, {.partitions = 4});
    if (auto* made = state.topic(transaction_log)) made->internal = true;
  }
  const auto node = state.controller();
  const auto* broker = state.broker(node);
  const auto describe = [&](const std::string& name) {
    find_coordinator_response::coordinator made;
    made.name = name;
    if (broker == nullptr || request.type != transaction) {  // groups are not simulated
      made.error_code = request.type == transaction || request.type == group
                            ? broker_errc::coordinator_not_available
                            : broker_errc::invalid_request;
      made.error_message = "no coordinator";
      return made;
    }
    made.error_message = call.version >= 4 ? "" : "NONE";
    made.node_id = node;
    made.host = broker->host;
    made.port = broker->port;
    return made;
  };
  find_coordinator_response made;
  if (call.version >= 4) {
    for (const auto& name : request.names) made.coordinators.push_back(describe(name));
    return made;
  }
  const auto one = describe(request.name);
  made.error_code = one.error_code;
  made.error_message = one.error_message;
  made.node_id = one.node_id;
  made.host = one.host;
  made.port = one.port;
  return made;
}

add_partitions_to_txn_response answer(cluster_state& state, const call& call,
                                      const add_partitions_to_txn_request& request) {
  add_partitions_to_txn_response made;
  if (call.version >= 4) {
    for (const auto& one : request.transactions)
      made.transactions.push_back(
          {one.transactional_id, add_all(state, call, one.transactional_id, one.producer_id,
                                         one.producer_epoch, one.verify_only, one.topics)});
  } else {
    made.topics = add_all(state, call, request.transactional_id, request.producer_id,
                          request.producer_epoch, false, request.topics);
  }
  return made;
}

end_txn_response answer(cluster_state& state, const call& call, const end_txn_request& request) {
  end_txn_response made;
  if (call.broker != state.controller()) {
    made.error_code = broker_errc::not_coordinator;
    return made;
  }
  const auto ended = state.transactions().end(request.transactional_id, request.producer_id,
                                              request.producer_epoch, request.committed,
                                              call.version >= 5, call.now);
  made.error_code = ended.code;
  made.producer_id = ended.producer_id;
  made.producer_epoch = ended.epoch;
  return made;
}

}  // namespace partita::testing
