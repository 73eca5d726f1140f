// Pausing a partition, and getting a halted one going again.
#pragma once

#include <partita/outcome.hpp>
#include <partita/record.hpp>

#include <cstdint>
#include <vector>

namespace partita {

enum class pause_mode : std::uint8_t {
  hold,  ///< stop sending; records are still accepted within the budget, their deadlines run
  abort_buffered,  ///< also answer what was never sent: not_written, code aborted, in order
};

/// What to do with the records of a halted partition.
enum class recovery : std::uint8_t {
  /// Send the failed records that were not written again, then the held ones, in order. The failed
  /// ones have all of the producer's delivery.timeout.ms before them again.
  resubmit,
  discard,  ///< forget the failed records, let the held ones go
  take,     ///< hand back failed and held records in their original order
};

struct recover_options {
  /// With `resubmit`: send records of unknown fate again too. They may then be in the log twice.
  bool allow_duplicates = false;
};

/// A record that recover(take) hands back, with what its producer was told.
struct taken_record {
  owned_record record{};
  failed answer{};
};

/// A record that recover(resubmit) sent again. Its number is that of its first answer, so that the
/// two can be told to belong together: also what failed after the call is sent again by it.
struct resubmitted_record {
  record_number number{};
  outcome answer;  ///< the second one, of the second submission
};

/// What recover() did.
struct recovery_report {
  bool was_halted = false;  ///< false: nothing to do, nothing was changed
  /// resubmit: each failed record that was sent again, in order. Where one fails again and halts,
  /// those behind it are not_written, code `halted`, and belong to the next recover().
  std::vector<resubmitted_record> resubmitted{};
  /// resubmit: failed records of unknown fate that were left out because duplicates were not
  /// allowed.
  std::vector<failed> left_out{};
  /// take: everything that failed or was held, in the order in which it was produced.
  std::vector<taken_record> taken{};
  std::uint64_t discarded = 0;
};

}  // namespace partita
