// Attempts by name: what a broker saw of each batch, and a script that decides about every one.
//
// Invariants
// 1. An attempt is seen once, then executed at most once, then answered at most once, in this
//    order.
// 2. What the script says comes before injected faults; without a word of it those apply, then the
//    broker's rules.
//
// Threads: all calls are made under the cluster's lock, by whichever thread moves the cluster; a
// script must not call the cluster back.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>
#include <partita/testing/fault.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace partita::testing {

struct log_record;

/// One batch of one produce request. The views are valid during the call.
struct produce_attempt {
  std::uint64_t number = 0;  ///< rises in the order in which attempts are seen
  std::uint64_t request = 0;
  std::uint64_t connection = 0;
  broker_id broker{};
  std::string_view topic{};
  partition_id partition{};
  partita::producer_id producer_id{};
  partita::producer_epoch producer_epoch{};
  sequence base_sequence{};
  std::int32_t record_count = 0;
  std::uint32_t checksum = 0;
  std::span<const std::byte> bytes{};
  std::span<const log_record> records{};  ///< empty when the batch does not read
};

/// What the broker did with an attempt.
struct attempt_result {
  std::uint64_t number = 0;
  broker_errc code = broker_errc::none;
  offset base_offset{};    ///< where it lies, or lay already
  bool appended = false;   ///< now in the leader's log by this attempt
  bool duplicate = false;  ///< recognised as a copy of what is there
};

/// What the client is told; nothing else leaves for this attempt.
struct attempt_answer {
  std::uint64_t number = 0;
  broker_errc code = broker_errc::none;
  offset base_offset{};
};

class attempt_script {
 public:
  /// Whether on_seen() is given the records of its batches, which takes time to read.
  [[nodiscard]] virtual bool reads_records() const { return true; }
  /// A whole request was taken from its connection; the batches of one request come together.
  [[nodiscard]] virtual std::optional<fault> on_seen(const produce_attempt& attempt) = 0;
  virtual void on_executed(const attempt_result& result) = 0;
  virtual void on_answered(const attempt_answer& answer) = 0;

 protected:
  ~attempt_script() = default;
};

}  // namespace partita::testing
