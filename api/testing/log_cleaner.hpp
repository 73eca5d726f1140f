// What Kafka's log cleaner does to the batches of a partition (cleanup.policy=compact).
//
// Invariants
// 1. Of a key the last record below the clean point stays, also a tombstone. Records without a key
//    go: a compacted topic takes none.
// 2. What stays keeps its offset. A batch that is thinned out keeps the range of its offsets and
//    its producer, epoch and sequence; its timestamps are those of what is left of it. One of which
//    nothing is left goes, except for the newest of each producer that is remembered: it stays as
//    an empty one, so that who reads the log anew knows the producer.
// 3. Left alone are the newest batch (there always is an active segment), control batches, and
//    transactions: their records neither go nor count as the last of their keys.
//
// Threads: pure functions.
#pragma once

#include "api/testing/partition_log.hpp"

#include <partita/testing/cluster.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace partita::testing {

struct cleaning {
  std::deque<batch_pointer> left{};
  std::vector<batch_pointer> gone{};  ///< whole batches
  std::vector<log_record> removed{};  ///< in the order of their offsets
};

/// Batches that reach `before` or lie beyond are left alone.
[[nodiscard]] cleaning clean(const std::deque<batch_pointer>& batches, std::int64_t before,
                             const producer_state& producers);

}  // namespace partita::testing
