// The records of stored batches as values for people and tests.
//
// Threads: pure functions.
#pragma once

#include "api/testing/batch_bytes.hpp"

#include <partita/testing/cluster.hpp>

#include <functional>

namespace partita::testing {

log_record record_of(const batch_header& header, const parsed_record& record);

/// Visits the data records of every complete batch in a row of batches and moves `next` behind the
/// last one; control batches are skipped. False when a batch does not read.
bool visit_records(byte_view batches, const std::function<void(const log_record&)>& visit,
                   std::int64_t& next);

}  // namespace partita::testing
