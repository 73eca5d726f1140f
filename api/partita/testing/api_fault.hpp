// Faults of everything a broker answers but Produce: errors, silence, cuts, and metadata that lies.
//
// Invariants
// 1. Faults of one API are tried in the order of their injection; at most one hits a request.
// 2. A lie changes what is said, never what is true: the model goes on by its own state.
//
// Threads: plain values; give them to cluster::inject from any thread.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>
#include <partita/testing/fault.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace partita::testing {

/// A number of times that does not end.
inline constexpr int always = std::numeric_limits<int>::max();

/// The APIs of a broker by Kafka's numbers.
enum class api : std::int16_t {
  any = -1,  ///< every one but Produce
  produce = 0,
  fetch = 1,
  list_offsets = 2,
  metadata = 3,
  find_coordinator = 10,
  api_versions = 18,
  init_producer_id = 22,
  add_partitions_to_txn = 24,
  end_txn = 26,
  describe_producers = 61,
};

/// One fault. The first `skip_first` matching requests pass untouched, the next `times` are hit.
struct api_fault {
  // Where: unset members match everything.
  testing::api api = api::any;
  std::optional<broker_id> broker{};
  int skip_first = 0;
  int times = 1;

  // What.
  testing::reply reply = testing::reply::error;  ///< truthful: only late or throttled
  broker_errc code = broker_errc::none;          ///< for reply::error
  std::string topic{};                           ///< whose entries get `code`; empty: all
  std::optional<std::size_t> cut_at{};           ///< as in fault
  std::chrono::milliseconds answer_after{0};
  std::chrono::milliseconds throttle{0};  ///< the connection is muted for so long behind the answer
};

/// What Metadata says of a topic in place of the truth, `times` times.
struct metadata_lie {
  std::string topic{};                ///< empty: every topic that was asked for
  std::optional<broker_id> broker{};  ///< who lies; unset: all brokers
  int skip_first = 0;
  int times = always;

  std::optional<broker_errc> topic_code{};  ///< with no partitions, unless none
  bool leave_out_topic = false;
  bool without_topic_id = false;
  std::optional<topic_id> other_topic_id{};
  /// So many partitions: the last ones left out, or invented ones without leader. Negative: none.
  std::optional<std::int32_t> partition_count{};

  std::optional<partition_id> partition{};  ///< what follows concerns this one; unset: all of them
  bool leave_out_partition = false;
  std::optional<broker_id> leader{};  ///< broker_id{}: no leader, code 5
  std::optional<partita::leader_epoch> leader_epoch{};
  std::optional<broker_errc> partition_code{};
};

/// What a client may do; all is allowed until it is taken away.
enum class right : std::uint8_t {
  write,             ///< Produce to the topic, else 29
  read,              ///< Fetch and DescribeProducers of the topic, else 29
  describe,          ///< Metadata and ListOffsets of the topic, else 29 or left out
  idempotent_write,  ///< InitProducerId, else 31; names no topic
};

}  // namespace partita::testing
