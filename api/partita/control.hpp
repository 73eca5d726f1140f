// What can be asked of a partition, and what is answered: the vocabulary of control.
//
// The same types serve the member functions of the producer and the messages of <partita/caf.hpp>.
#pragma once

#include <partita/ids.hpp>
#include <partita/outcome.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>
#include <partita/settlement.hpp>
#include <partita/status.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace partita {

/// Stops sending. Records are still accepted, within the budget.
struct pause_request {
  bool abort_buffered = false;  ///< also fails what was never sent, in order: not_written, aborted
};

/// Ends a pause.
struct resume_request {};

/// Halts a key, or without one the whole partition, as a failure does: what is not yet on its way
/// does not pass until it is recovered.
struct halt_request {
  std::optional<std::string> key{};
};

/// Ends the halt of a key; without one the halt of the partition and of all its keys. Answered with
/// a recovery_report.
struct recover_request {
  recovery how = recovery::resubmit;
  std::optional<std::string> key{};
  bool allow_duplicates = false;  ///< also resubmit records whose fate is unknown
};

/// Answered with a tally when everything admitted before it has been answered.
struct flush_request {};

struct status_request {};

/// Records for this partition, in order. Outcomes come as delivery_report; the tag of record i is
/// first_tag + i.
struct produce_request {
  std::vector<owned_record> records{};
  std::uint64_t first_tag = 0;
};

/// Asks for partition_event messages. The subscription ends with the subscriber.
struct subscribe_request {};
/// Ends it before.
struct unsubscribe_request {};

/// What became of a record that was answered unknown. Answered with a settlement, when it is
/// known.
struct settle_request {
  ticket which{};
};

/// The answer to what has nothing else to say.
struct control_done {};

enum class partition_change : std::uint8_t { halted, resumed, settled, leader_changed, leaderless };

struct partition_event {
  partition_change change{};
  std::string topic{};
  partition_id partition{};
  std::error_code code{};  ///< settled: why it could not be decided, if it could not
  /// halted, resumed: the keys; none: the whole partition.
  std::vector<std::string> keys{};
  ticket first{};           ///< settled: the first record's; those behind it have the next numbers
  std::uint64_t count = 0;  ///< settled: how many records
};

/// One record's answer within a delivery_report.
struct tagged_outcome {
  std::uint64_t tag = 0;
  outcome answer;
};

/// Answers to records that were produced with the same receiver, one message per run of a batch.
struct delivery_report {
  std::string topic{};  ///< empty on success; a failure names it
  partition_id partition{};
  std::vector<tagged_outcome> outcomes{};
};

}  // namespace partita
