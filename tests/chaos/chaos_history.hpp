// What was produced under chaos, everything that was said about it, and the comparison with the log
// that an independent client read.
//
// Invariants
// 1. A value is produced once, so that a record in the log names the one that was produced. It may
//    be submitted again by a recovery; each submission has one answer.
// 2. A copy in the log needs a submission that was delivered (there) or may have been written: the
//    rest is an anomaly, and so is a delivered submission without its copy.
//
// Threads: any; one mutex.
#pragma once

#include "integration/foreign_readers.hpp"

#include <partita/outcome.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace partita::chaos {

/// What a ticket came to.
enum class settled_as : std::uint8_t { undecided, delivered, never_written };

struct chaos_counts {
  std::uint64_t produced = 0;
  std::uint64_t delivered = 0;
  std::uint64_t not_written = 0;
  std::uint64_t unknown = 0;
  std::uint64_t resubmitted = 0;
  std::uint64_t settled_delivered = 0;
  std::uint64_t settled_never_written = 0;
  std::uint64_t undecided = 0;
  std::uint64_t unanswered = 0;
};

class chaos_history {
 public:
  using index = std::size_t;

  /// `key` empty: none. Order is that of these calls, among those of one source.
  index begin(std::string topic, std::string key, std::string value);
  void answered(index at, const outcome& answer);
  /// The record is submitted once more; its answer comes by answered().
  void resubmit(index at);
  void settled(index at, settled_as verdict, std::optional<partita::offset> offset);

  std::string value(index at) const;
  std::uint64_t open() const;
  chaos_counts counts() const;

  /// A topic that is deleted: what was delivered before may be gone, and its offsets are used
  /// again.
  void forget_topic(const std::string& topic);

  /// One line for each anomaly, named as Jepsen does; at most 50.
  std::vector<std::string> anomalies(
      const std::map<std::string, std::vector<testing::foreign_record>>& logs) const;

 private:
  struct submission {
    std::optional<outcome> answer;
    settled_as settled = settled_as::undecided;
    std::optional<partita::offset> settled_offset;
  };
  struct entry {
    std::string topic;
    std::string key;
    std::string value;
    bool may_be_gone = false;  // its topic was deleted after it was produced
    std::vector<submission> submissions;
  };
  struct findings;

  void check_log(const std::string& topic, const std::vector<testing::foreign_record>& log,
                 std::vector<std::vector<const testing::foreign_record*>>& places,
                 findings& found) const;
  void check_entry(const entry& one, const std::vector<const testing::foreign_record*>& places,
                   findings& found) const;

  mutable std::mutex mutex_;
  std::deque<entry> entries_;
  std::unordered_map<std::string, index> by_value_;
  std::uint64_t open_ = 0;
};

}  // namespace partita::chaos
