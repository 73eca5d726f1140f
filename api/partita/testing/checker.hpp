// Compares what a producer answered with what the log holds.
//
// Invariants
// 1. A record is identified by its whole content and its topic; payloads that name themselves
//    (topic, partition, index) make every finding exact. Of equal ones only the number is judged.
// 2. Every anomaly names the invariant it breaks, and the check never stops at the first one.
//
// Threads: pure; call from any thread once the history is complete.
#pragma once

#include <partita/ids.hpp>
#include <partita/outcome.hpp>
#include <partita/record.hpp>
#include <partita/testing/cluster.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::testing {

enum class anomaly_kind : std::uint8_t {
  lost_write,         ///< I1: delivered, but not in the log at that offset
  wrong_content,      ///< I1: delivered at an offset that holds something else
  phantom_write,      ///< I2: not written, but in the log
  duplicate_write,    ///< I1, I4: in the log more than once
  nonmonotonic_send,  ///< I5: the log's order differs from the order of produce()
  unanswered,         ///< I7: no answer
  answered_twice,     ///< I7: more than one answer
  misrouted,          ///< I11: in another partition than the answer or the record says
  unknown_record,     ///< I11: in the log, but never produced
  offset_twice,       ///< I3: two records were told the same offset
  unseen,             ///< I1: delivered beyond what was read of the log, so nobody saw it
  int_send_skip,      ///< I5: another record of the history lies inside one produce_batch()
};

std::string_view name(anomaly_kind kind) noexcept;

struct anomaly {
  anomaly_kind kind{};
  std::string topic{};
  partition_id partition{};
  partita::offset offset{};  ///< where it was seen, if anywhere
  std::uint64_t order = 0;   ///< of the record in the history, if it is one of it
  std::string text{};        ///< one line for people
};

/// One record that produce() accepted, and every answer it got.
struct produced_record {
  owned_record record{};         ///< partition: the one it was assigned, if known
  std::uint64_t order = 0;       ///< rises in the order of produce(); compared within a partition
  bool client_timestamp = true;  ///< false: the record's timestamp is not compared
  std::vector<outcome> answers{};
  std::uint64_t send = 0;      ///< the same for the records of one produce_batch(); 0: by itself
  bool failed_before = false;  ///< its answer is that of recover(resubmit), or of settle()
};

/// What the log of one partition holds.
struct partition_history {
  std::string topic{};
  partition_id partition{};
  std::vector<log_record> log{};
  partita::offset start = 0;  ///< what lay below was deleted, and says nothing
  /// So far the log was read. Unset: to its end.
  std::optional<partita::offset> read_to{};
};

struct check_options {
  bool order = true;  ///< I5
  /// Records of other keys may have passed a key that was halted: one of which a record failed
  /// (now, or before it was sent again). It has only the order of its own records.
  bool halted_keys_wait = false;
  bool others_may_write = false;  ///< records that were not produced are no anomaly
  bool log_append_time = false;   ///< timestamps in the log are the broker's
};

/// The whole log of every partition of the topics that the records name.
std::vector<partition_history> read_logs(const cluster& cluster,
                                         const std::vector<produced_record>& records);

std::vector<anomaly> check(const std::vector<produced_record>& records,
                           const std::vector<partition_history>& logs,
                           const check_options& options = {});

/// One line per anomaly; empty for none.
std::string report(const std::vector<anomaly>& anomalies);

}  // namespace partita::testing
