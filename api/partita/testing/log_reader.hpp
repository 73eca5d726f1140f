// Reads a topic's log over the network, batch headers included: what a broker really holds.
//
// A second pair of eyes for tests and demos: it shares no state and no producer code with the
// producer under test, works against simulated and real brokers (Apache Kafka 2.1 and later, in the
// versions that each of them offers), and blocks.
//
// Invariants
// 1. Every wait ends: by the answer, the end of the connection, or the time limit.
// 2. Only what is below the high watermark of the moment is read, each record once, in order.
//
// Threads: one reader, one thread.
#pragma once

#include <partita/ids.hpp>
#include <partita/testing/cluster.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace partita::testing {

/// How a read ended; `text` is for people.
struct read_end {
  std::error_code error{};
  std::string text{};

  [[nodiscard]] bool ok() const noexcept { return !error; }
};

/// What a broker says about a topic.
struct topic_description {
  struct leader {
    partition_id partition{};
    broker_id broker{};  ///< not known() while there is none
    std::string host{};  ///< empty where the broker has no address
    std::int32_t port = 0;
  };
  std::vector<leader> leaders{};         ///< by partition
  std::optional<bool> may_be_written{};  ///< by whoever asks; unset: the broker does not say
};

class log_reader {
 public:
  /// `bootstrap` is "host:port,host:port".
  explicit log_reader(std::string bootstrap,
                      std::chrono::milliseconds limit = std::chrono::seconds{30});
  log_reader(const log_reader&) = delete;
  log_reader& operator=(const log_reader&) = delete;
  ~log_reader();

  /// The partitions of a topic, in order.
  [[nodiscard]] read_end partitions(std::string_view topic, std::vector<partition_id>& found);

  /// The leaders of a topic, and whether it may be written. Nothing of the log is read.
  [[nodiscard]] read_end describe(std::string_view topic, topic_description& found);

  /// Calls `visit` for every record from `first` on (or the log's start, if that is later).
  [[nodiscard]] read_end read(std::string_view topic, partition_id partition,
                              const std::function<void(const log_record&)>& visit,
                              partita::offset first = 0);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace partita::testing
