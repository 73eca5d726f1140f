// Turns a true answer of an API into one that says an error.
//
// Threads: pure functions.
#pragma once

#include "api/testing/broker_apis.hpp"
#include "wire/messages/fetch.hpp"

#include <partita/testing/api_fault.hpp>

#include <string_view>

namespace partita::testing {

void refuse(wire::api_versions_response& answer, const api_fault& fault);
void refuse(wire::metadata_response& answer, const api_fault& fault);
void refuse(wire::init_producer_id_response& answer, const api_fault& fault);
void refuse(wire::list_offsets_response& answer, const api_fault& fault);
void refuse(wire::describe_producers_response& answer, const api_fault& fault);
void refuse(wire::fetch_response& answer, const api_fault& fault);
void refuse(find_coordinator_response& answer, const api_fault& fault);
void refuse(add_partitions_to_txn_response& answer, const api_fault& fault);
void refuse(end_txn_response& answer, const api_fault& fault);
/// The others have no error to tell.
template <class Response>
void refuse(Response&, const api_fault&) {}

}  // namespace partita::testing
