#include "api/testing/served_apis.hpp"

#include <array>

namespace partita::testing {
namespace {

using apis = std::array<served_api, 20>;

constexpr apis kafka_4_4 = {{
    {wire::api_key::produce, {0, 13}, {3, 13}},
    {wire::api_key::fetch, {4, 18}, {4, 18}},
    {wire::api_key::list_offsets, {1, 11}, {1, 11}},
    {wire::api_key::metadata, {0, 13}, {0, 13}},
    {wire::api_key::find_coordinator, {0, 6}, {0, 6}},
    {wire::api_key::api_versions, {0, 5}, {0, 5}},
    {wire::api_key::create_topics, {2, 7}, {2, 7}},
    {wire::api_key::delete_topics, {1, 6}, {1, 6}},
    {wire::api_key::delete_records, {0, 2}, {0, 2}},
    {wire::api_key::init_producer_id, {0, 5}, {0, 5}},
    {wire::api_key::offset_for_leader_epoch, {2, 4}, {2, 4}},
    {wire::api_key::add_partitions_to_txn, {0, 5}, {0, 5}},
    {wire::api_key::end_txn, {0, 5}, {0, 5}},
    {wire::api_key::describe_configs, {1, 4}, {1, 4}},
    {wire::api_key::incremental_alter_configs, {0, 1}, {0, 1}},
    {wire::api_key::elect_leaders, {0, 2}, {0, 2}},
    {wire::api_key::alter_partition_reassignments, {0, 1}, {0, 1}},
    {wire::api_key::describe_cluster, {0, 2}, {0, 2}},
    {wire::api_key::describe_producers, {0, 0}, {0, 0}},
    {wire::api_key::create_partitions, {0, 3}, {0, 3}},
}};

constexpr apis with(apis changed, wire::api_key key, wire::version_range offered,
                    wire::version_range served) {
  for (auto& api : changed)
    if (api.key == key) api = {key, offered, served};
  return changed;
}

constexpr apis kafka_4_2 = with(kafka_4_4, wire::api_key::api_versions, {0, 4}, {0, 4});

// What is offered below the served range was taken out of use by KIP-896; nothing here sends it.
constexpr apis kafka_3_9 = [] {
  auto made = with(kafka_4_2, wire::api_key::produce, {0, 11}, {0, 11});
  made = with(made, wire::api_key::fetch, {0, 17}, {4, 17});
  made = with(made, wire::api_key::list_offsets, {0, 9}, {1, 9});
  made = with(made, wire::api_key::metadata, {0, 12}, {0, 12});
  return with(made, wire::api_key::end_txn, {0, 4}, {0, 4});
}();

// Of Kafka 2.4, as far as producers care.
constexpr apis kafka_2_4 = [] {
  auto made = with(kafka_3_9, wire::api_key::produce, {0, 8}, {0, 8});
  made = with(made, wire::api_key::fetch, {0, 11}, {4, 11});
  made = with(made, wire::api_key::list_offsets, {0, 5}, {1, 5});
  made = with(made, wire::api_key::metadata, {0, 9}, {0, 9});
  made = with(made, wire::api_key::find_coordinator, {0, 3}, {0, 3});
  made = with(made, wire::api_key::api_versions, {0, 3}, {0, 3});
  made = with(made, wire::api_key::describe_cluster, {1, 0}, {1, 0});  // not there
  made = with(made, wire::api_key::describe_producers, {1, 0}, {1, 0});
  return with(made, wire::api_key::init_producer_id, {0, 2}, {0, 2});
}();

}  // namespace

std::span<const served_api> served_apis(emulation version) noexcept {
  switch (version) {
    case emulation::kafka_2_4:
      return kafka_2_4;
    case emulation::kafka_3_9:
      return kafka_3_9;
    case emulation::kafka_4_2:
      return kafka_4_2;
    case emulation::kafka_4_4:
    case emulation::kafka_4_5:
      break;
  }
  return kafka_4_4;
}

}  // namespace partita::testing
