// The APIs and versions that the simulated brokers offer: those of Kafka 4.4.
//
// Invariants
// 1. Produce is offered from version 0 on but served from 3 on: librdkafka takes the absence of
// version 0
//    for the absence of compression (KAFKA-18659), so Kafka 4.x does the same.
//
// Threads: constants.
#pragma once

#include "wire/api_key.hpp"

#include <array>

namespace partita::testing {

struct served_api {
  wire::api_key key;
  wire::version_range offered;
  wire::version_range served;
};

inline constexpr std::array<served_api, 20> served_apis = {{
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

}  // namespace partita::testing
