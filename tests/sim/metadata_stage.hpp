// The stage of the rows about metadata: linger 0, one record per batch, halt_partition.
#pragma once

#include "tests/sim/history.hpp"

#include <partita/testing/api_fault.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace partita::testing::metadata_stage {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr const char* topic = "ledger";

inline history_options stage(int partitions = 3) {
  history_options options;
  options.partitions = partitions;
  options.config = hurried_config();
  options.config.linger = milliseconds(0);
  options.config.batch_records_max = 1;
  options.config.delivery_timeout = seconds(10);
  options.config.on_failure = failure_policy::halt_partition;
  return options;
}

/// One that asks for metadata twice a second.
inline history_options curious_stage() {
  history_options options = stage();
  options.config.metadata_max_age = milliseconds(500);
  return options;
}

inline fault refusal(int partition, broker_errc code, int times) {
  fault planned;
  planned.topic = topic;
  planned.partition = partition;
  planned.execution = execution::skip;
  planned.reply = reply::error;
  planned.code = code;
  planned.times = times;
  return planned;
}

/// Each partition has one record, so leaders, ids and connections are settled.
inline void warm_up(history& story, int partitions = 3) {
  for (int partition = 0; partition < partitions; ++partition) story.produce(partition, "warm");
  ASSERT_TRUE(story.run_until_answered());
}

inline std::size_t produce(history& story, int partition) {
  story.produce(partition, "k");
  return story.produced() - 1;
}

inline bool answered_within(history& story, std::chrono::nanoseconds limit) {
  return story.run_until_answered(limit);
}

}  // namespace partita::testing::metadata_stage
