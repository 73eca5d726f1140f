// Looking for batches in a partition's log: which requests to make, and what their answers prove.
//
// Only headers are read: they carry the (producer id, epoch, sequence) that tells a batch. A fence
// is a batch of a newer epoch that was acknowledged: from its append on, what is older is in the
// log before it or nowhere (kafka-semantics 4.1). Without a fence the log is read to the end it had
// when the search began; what is not there may still come, or lie in the tail of a former leader
// that leads again, and who asked has to know better.
//
// Invariants
// 1. "Absent" is said only after every batch from the first possible offset up to the fence, or to
//    the log's end, was seen, on a leader that was checked by its epoch: in a log that still holds
//    what was acknowledged before, and whose offsets have no gap (retention and compaction make
//    them).
// 2. "Found" needs the same stamp, record count and, unless the log stamps its batches or has taken
//    records out of it, timestamp.
// 3. Each answer either brings the search further or ends it; at most bytes_max are read.
//
// Threads: one. No time, no network: who drives it makes the requests.
#pragma once

#include "actors/log_anchor.hpp"
#include "wire/batch_stamp.hpp"
#include "wire/record_reader.hpp"

#include <partita/error.hpp>
#include <partita/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <variant>
#include <vector>

namespace partita::actors {

/// What the header of a batch that is looked for says.
struct log_target {
  wire::batch_stamp stamp;
  std::int32_t count = 0;
  std::int64_t max_timestamp_ms = -1;
};

/// The first batch of a newer epoch, and where it was acknowledged.
struct log_fence {
  wire::batch_stamp stamp;
  partita::offset at;
};

struct log_question {
  std::uint64_t token = 0;  ///< comes back with the findings
  std::vector<log_target> targets;
  /// No target lies before it. Not known: found out by the targets' timestamps.
  partita::offset from;
  /// The acknowledged batch that ends there. Where it is not found the log is another one: its
  /// tail was lost, and others, or we ourselves, have filled it again.
  std::optional<log_anchor> anchor;
  std::optional<log_fence> fence;
  leader_epoch epoch;  ///< of the leader that is asked
};

struct found_batch {
  partita::offset base_offset;
  std::int64_t log_append_time_ms = -1;  ///< -1: the records keep their own timestamps
};

enum class search_end : std::uint8_t {
  decided,      ///< what was not found was not there
  undecidable,  ///< what was not found can not be decided, for a reason that does not pass
  interrupted,  ///< worth another try
};

struct log_findings {
  std::uint64_t token = 0;
  search_end end = search_end::interrupted;
  std::vector<std::optional<found_batch>> found;  ///< one per target; true whatever the end
  std::error_code reason;                         ///< of an end that decides nothing
  std::error_code cause;                          ///< what the broker said, if it said so
  /// A batch of the epoch of the leader that was asked was seen, so it is committed: no former
  /// leader can lead again with a tail of its own.
  bool saw_epoch = false;
};

/// ListOffsets. `log_end`: the end of the leader's own log, beyond the high watermark too.
struct ask_offset {
  std::int64_t timestamp = 0;
  bool log_end = false;
};
/// Fetch.
struct ask_records {
  partita::offset from;
};
/// The high watermark lags: ask again after a moment.
struct await_log {};

using search_step = std::variant<ask_offset, ask_records, await_log, log_findings>;

class log_search {
 public:
  struct limits {
    std::size_t bytes_max = std::size_t{64} << 20;
    /// Clocks of clients and brokers differ by less, or the search by timestamp is not believed.
    std::int64_t clock_slack_ms = 600'000;
  };

  log_search(log_question question, const limits& with);
  explicit log_search(log_question question) : log_search(std::move(question), limits()) {}

  [[nodiscard]] const log_question& question() const noexcept { return question_; }

  /// The first step; each answer gives the next. Findings end it.
  [[nodiscard]] search_step begin();
  [[nodiscard]] search_step offset_answered(broker_errc code, partita::offset answer);
  /// `log_start` is not known() where the answer has none.
  [[nodiscard]] search_step records_answered(broker_errc code, partita::offset log_start,
                                             std::span<const std::byte> records);
  [[nodiscard]] search_step waited();
  /// No answer, or one that can not be asked for.
  [[nodiscard]] log_findings abandoned(search_end end, std::error_code reason,
                                       std::error_code cause = {});

 private:
  enum class phase : std::uint8_t { first_offset, log_start, log_end, reading };

  [[nodiscard]] search_step start_at(partita::offset first);
  [[nodiscard]] search_step read_on();
  [[nodiscard]] search_step finish();
  [[nodiscard]] search_step refused(broker_errc code);
  [[nodiscard]] bool take(const wire::batch_header& header);
  void look_for_traces(const wire::batch_header& header);
  void match(const wire::batch_header& header);
  [[nodiscard]] bool all_found() const noexcept;
  [[nodiscard]] bool at_end() const noexcept;

  log_question question_;
  limits limits_;
  phase phase_ = phase::first_offset;
  std::vector<std::optional<found_batch>> found_;
  std::int64_t next_ = -1;     // the offset to be read next
  std::int64_t end_ = -1;      // without a fence: where the log ended
  std::int64_t since_ms_ = 0;  // where no offset is known: no target is older
  std::size_t bytes_ = 0;
  bool read_ = false;
  bool by_timestamp_ = false;  // next_ began where the timestamps say
  bool out_of_range_ = false;  // the broker has no record at next_
  bool trimmed_ = false;       // records that had to be seen are gone
  bool changed_ = false;       // something else lies where the anchor was
  bool anchor_due_ = false;    // its place is still to come
  bool placed_ = false;        // whether next_ began at the log's start is known
  bool at_log_start_ = false;  // it did, there is more before it, and no batch was seen yet
  bool fence_seen_ = false;
  bool fence_missing_ = false;  // something else lies in its place
  bool saw_own_time_ = false;   // a batch whose records keep their timestamps
  bool saw_append_time_ = false;
  bool saw_epoch_ = false;  // a batch of the leader's own epoch
};

}  // namespace partita::actors
