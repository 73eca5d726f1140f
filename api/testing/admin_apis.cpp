#include "api/testing/broker_apis.hpp"

#include <algorithm>
#include <array>

namespace partita::testing {
namespace {

constexpr std::int8_t operation_set = 0;
constexpr std::int8_t operation_delete = 1;
constexpr auto preferred_leader_not_available = broker_errc{80};
constexpr auto election_not_needed = broker_errc{84};
constexpr auto no_reassignment_in_progress = broker_errc{85};

std::optional<std::string> message_for(broker_errc code) {
  if (code == broker_errc::none) return std::nullopt;
  return make_error_code(code).message();
}

topic_options options_of(const create_topics_request::topic& asked, const cluster_state& state) {
  topic_options options;
  options.partitions =
      asked.partitions == -1 ? state.options().auto_create_partitions : asked.partitions;
  options.replication = asked.replication;
  for (const auto& setting : asked.settings)
    if (setting.value) options.settings[setting.name] = *setting.value;
  // Assignments may come in any order of their partitions.
  auto assignments = asked.assignments;
  std::sort(assignments.begin(), assignments.end(),
            [](const auto& left, const auto& right) { return left.partition < right.partition; });
  for (const auto& assignment : assignments) options.replicas.push_back(assignment.brokers);
  return options;
}

struct setting_default {
  std::string_view name;
  std::string_view value;
};

// What clients ask for; the values are Kafka 4.4's defaults.
constexpr std::array<setting_default, 9> setting_defaults = {{
    {"cleanup.policy", "delete"},
    {"compression.type", "producer"},
    {"max.message.bytes", "1048588"},
    {"message.timestamp.after.max.ms", "3600000"},
    {"message.timestamp.before.max.ms", "9223372036854775807"},
    {"message.timestamp.type", "CreateTime"},
    {"min.insync.replicas", "1"},
    {"retention.ms", "604800000"},
    {"segment.bytes", "1073741824"},
}};

}  // namespace

create_topics_response answer(cluster_state& state, const call&,
                              const create_topics_request& request) {
  create_topics_response made;
  for (const auto& asked : request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = asked.name;
    entry.error_code = state.create_topic(asked.name, options_of(asked, state));
    entry.error_message = message_for(entry.error_code);
    const auto* topic = state.topic(asked.name);
    if (entry.error_code != broker_errc::none || topic == nullptr) continue;
    entry.topic_id = topic->id;
    entry.partitions = static_cast<std::int32_t>(topic->partitions.size());
    entry.replication = static_cast<std::int16_t>(topic->partitions.front().replicas().size());
    entry.settings.emplace();
    for (const auto& [name, value] : topic->values)
      entry.settings->push_back({name, value, false, 1, false});
    if (request.validate_only) state.delete_topic(asked.name);
  }
  return made;
}

delete_topics_response answer(cluster_state& state, const call& call,
                              const delete_topics_request& request) {
  delete_topics_response made;
  const auto remove = [&](const std::optional<std::string>& asked, partita::topic_id id) {
    auto& entry = made.topics.emplace_back();
    entry.name = asked;
    entry.topic_id = id;
    if (!asked) {
      const auto* topic = state.topic(id);
      entry.error_code = topic == nullptr ? broker_errc::unknown_topic_id
                                          : state.delete_topic(std::string{topic->name});
    } else {
      if (const auto* topic = state.topic(*asked)) entry.topic_id = topic->id;
      entry.error_code = state.delete_topic(*asked);
    }
    entry.error_message = message_for(entry.error_code);
  };
  if (call.version >= 6) {
    for (const auto& topic : request.topics) remove(topic.name, topic.topic_id);
  } else {
    for (const auto& name : request.names) remove(name, {});
  }
  return made;
}

delete_records_response answer(cluster_state& state, const call& call,
                               const delete_records_request& request) {
  delete_records_response made;
  for (const auto& asked : request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = asked.name;
    auto* topic = state.topic(asked.name);
    for (const auto& one : asked.partitions) {
      auto& part = entry.partitions.emplace_back();
      part.index = one.index;
      auto* partition = topic == nullptr ? nullptr : topic->partition(one.index);
      if (partition == nullptr) {
        part.error_code = broker_errc::unknown_topic_or_partition;
      } else if (partition->leader() != call.broker) {
        part.error_code = broker_errc::not_leader_or_follower;
      } else {
        part.error_code =
            partition->delete_before(one.offset == -1 ? partition->high_watermark() : one.offset);
        if (part.error_code == broker_errc::none) part.low_watermark = partition->log().start();
      }
    }
  }
  return made;
}

create_partitions_response answer(cluster_state& state, const call&,
                                  const create_partitions_request& request) {
  create_partitions_response made;
  for (const auto& asked : request.topics) {
    const auto code =
        request.validate_only ? broker_errc::none : state.add_partitions(asked.name, asked.count);
    made.topics.push_back({asked.name, code, message_for(code)});
  }
  return made;
}

incremental_alter_configs_response answer(cluster_state& state, const call&,
                                          const incremental_alter_configs_request& request) {
  incremental_alter_configs_response made;
  for (const auto& asked : request.resources) {
    auto& entry = made.resources.emplace_back();
    entry.type = asked.type;
    entry.name = asked.name;
    for (const auto& setting : asked.settings) {
      if (setting.operation != operation_set && setting.operation != operation_delete) {
        entry.error_code = broker_errc::invalid_config;
        break;
      }
      const bool erase = setting.operation == operation_delete || !setting.value;
      const auto value = erase ? std::nullopt : std::optional<std::string_view>{*setting.value};
      if (request.validate_only) continue;
      entry.error_code = asked.type == topic_resource
                             ? state.alter_topic(asked.name, setting.name, value)
                             : state.alter_brokers(setting.name, value);
      if (entry.error_code != broker_errc::none) break;
    }
    entry.error_message = message_for(entry.error_code);
  }
  return made;
}

elect_leaders_response answer(cluster_state& state, const call&,
                              const elect_leaders_request& request) {
  elect_leaders_response made;
  const auto elect = [&](topic_state& topic, std::int32_t index) {
    auto* partition = topic.partition(index);
    if (partition == nullptr) return broker_errc::unknown_topic_or_partition;
    const auto preferred = partition->replicas().front().broker;
    if (partition->leader() == preferred) return election_not_needed;
    if (!partition->in_sync(preferred) || !partition->find(preferred)->running)
      return preferred_leader_not_available;
    partition->lead(preferred);
    partition->replicate(topic.settings);
    return broker_errc::none;
  };
  if (!request.topics) return made;
  for (const auto& asked : *request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = asked.name;
    auto* topic = state.topic(asked.name);
    for (const auto index : asked.partitions) {
      const auto code =
          topic == nullptr ? broker_errc::unknown_topic_or_partition : elect(*topic, index);
      entry.partitions.push_back({index, code, message_for(code)});
    }
  }
  return made;
}

alter_partition_reassignments_response answer(
    cluster_state& state, const call&, const alter_partition_reassignments_request& request) {
  alter_partition_reassignments_response made;
  made.allow_other_factor = request.allow_other_factor;
  for (const auto& asked : request.topics) {
    auto& entry = made.topics.emplace_back();
    entry.name = asked.name;
    for (const auto& one : asked.partitions) {
      const auto code = one.replicas ? state.assign(asked.name, one.index, *one.replicas)
                                     : no_reassignment_in_progress;
      entry.partitions.push_back({one.index, code, message_for(code)});
    }
  }
  return made;
}

describe_configs_response answer(cluster_state& state, const call&,
                                 const describe_configs_request& request) {
  describe_configs_response made;
  for (const auto& asked : request.resources) {
    auto& entry = made.resources.emplace_back();
    entry.type = asked.type;
    entry.name = asked.name;
    if (asked.type != topic_resource) continue;
    const auto* topic = state.topic(asked.name);
    if (topic == nullptr) {
      entry.error_code = broker_errc::unknown_topic_or_partition;
      entry.error_message = message_for(entry.error_code);
      continue;
    }
    for (const auto& one : setting_defaults) {
      const std::string name{one.name};
      if (asked.keys &&
          std::find(asked.keys->begin(), asked.keys->end(), name) == asked.keys->end())
        continue;
      describe_configs_response::setting setting;
      const auto own = topic->values.find(name);
      setting.name = name;
      setting.value = own == topic->values.end() ? std::string{one.value} : own->second;
      setting.source = own == topic->values.end() ? std::int8_t{5} : std::int8_t{1};
      entry.settings.push_back(std::move(setting));
    }
  }
  return made;
}

describe_cluster_response answer(cluster_state& state, const call&,
                                 const describe_cluster_request& request) {
  describe_cluster_response made;
  made.endpoint_type = request.endpoint_type;
  made.cluster_id = state.options().cluster_id;
  made.controller = state.controller();
  for (const auto& broker : state.brokers())
    if (broker.running)
      made.brokers.push_back({broker.id, broker.host, broker.port, std::nullopt, false});
  return made;
}

}  // namespace partita::testing
