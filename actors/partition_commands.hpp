// What the partition core keeps of the longer commands until they are done. The actor's command
// nodes own these.
#pragma once

#include "actors/batch.hpp"

#include <partita/outcome.hpp>
#include <partita/recovery.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace partita::actors {

enum class tally_kind : std::uint8_t { delivered, not_written, unknown };

inline void add(tally& counts, tally_kind kind, std::uint64_t count) noexcept {
  switch (kind) {
    case tally_kind::delivered:
      counts.delivered += count;
      break;
    case tally_kind::not_written:
      counts.not_written += count;
      break;
    case tally_kind::unknown:
      counts.unknown += count;
      break;
  }
}

/// flush(): done when the records that were unanswered when it came are answered.
struct flush_barrier {
  std::uint64_t ordinal = 0;  ///< of the first record it does not wait for
  std::uint64_t left = 0;  ///< records, and one for each recovery whose records are not counted yet
  tally answered;
};

/// recover(). With `resubmit` the command stays alive until every resubmitted record is answered.
struct recover_command {
  recovery how = recovery::resubmit;
  std::optional<std::string> key;  ///< none: the partition and all its keys
  recover_options options;
  recovery_report report;
  /// Where the answers of resubmitted records go; the record's index is the entry's data.
  completion_target* resubmitted_target = nullptr;
  std::vector<record_number> resubmitted;
};

/// One record that its caller does not want any more.
struct cancel_request {
  const completion_target* who = nullptr;  ///< the record's; another one now: it was answered
  std::uint64_t ordinal = 0;
};

/// close() at its deadline.
struct close_command {
  std::vector<owned_record> unsent;
};

/// What a broker said about a batch.
struct attempt_answer {
  broker_errc code = broker_errc::unknown_server_error;
  offset base_offset;
  std::int64_t log_append_time_ms = -1;
};

}  // namespace partita::actors
