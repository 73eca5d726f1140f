// What a broker answers at once: everything but Produce and Fetch, which may wait.
//
// Threads: pure functions of the cluster's state; the caller owns it.
#pragma once

#include "api/testing/cluster_state.hpp"
#include "api/testing/messages/alter_configs.hpp"
#include "api/testing/messages/alter_reassignments.hpp"
#include "api/testing/messages/create_partitions.hpp"
#include "api/testing/messages/create_topics.hpp"
#include "api/testing/messages/delete_records.hpp"
#include "api/testing/messages/delete_topics.hpp"
#include "api/testing/messages/describe_cluster.hpp"
#include "api/testing/messages/describe_configs.hpp"
#include "api/testing/messages/elect_leaders.hpp"
#include "api/testing/messages/find_coordinator.hpp"
#include "api/testing/messages/offset_for_leader_epoch.hpp"
#include "api/testing/messages/transactions.hpp"
#include "wire/messages/api_versions.hpp"
#include "wire/messages/describe_producers.hpp"
#include "wire/messages/init_producer_id.hpp"
#include "wire/messages/list_offsets.hpp"
#include "wire/messages/metadata.hpp"

namespace partita::testing {

/// Who asks whom, in which version, when.
struct call {
  std::int32_t broker = -1;
  std::int16_t version = 0;
  moment now{};
};

// For producers and consumers.
wire::api_versions_response answer(cluster_state&, const call&, const wire::api_versions_request&);
wire::metadata_response answer(cluster_state&, const call&, const wire::metadata_request&);
wire::init_producer_id_response answer(cluster_state&, const call&,
                                       const wire::init_producer_id_request&);
wire::list_offsets_response answer(cluster_state&, const call&, const wire::list_offsets_request&);
wire::describe_producers_response answer(cluster_state&, const call&,
                                         const wire::describe_producers_request&);
find_coordinator_response answer(cluster_state&, const call&, const find_coordinator_request&);
offset_for_leader_epoch_response answer(cluster_state&, const call&,
                                        const offset_for_leader_epoch_request&);
add_partitions_to_txn_response answer(cluster_state&, const call&,
                                      const add_partitions_to_txn_request&);
end_txn_response answer(cluster_state&, const call&, const end_txn_request&);

// For administration.
create_topics_response answer(cluster_state&, const call&, const create_topics_request&);
delete_topics_response answer(cluster_state&, const call&, const delete_topics_request&);
delete_records_response answer(cluster_state&, const call&, const delete_records_request&);
create_partitions_response answer(cluster_state&, const call&, const create_partitions_request&);
incremental_alter_configs_response answer(cluster_state&, const call&,
                                          const incremental_alter_configs_request&);
describe_configs_response answer(cluster_state&, const call&, const describe_configs_request&);
describe_cluster_response answer(cluster_state&, const call&, const describe_cluster_request&);

elect_leaders_response answer(cluster_state&, const call&, const elect_leaders_request&);
alter_partition_reassignments_response answer(cluster_state&, const call&,
                                              const alter_partition_reassignments_request&);

/// The answer to a version of ApiVersions that the broker does not know.
wire::api_versions_response unknown_api_versions(const cluster_state& state);

}  // namespace partita::testing
