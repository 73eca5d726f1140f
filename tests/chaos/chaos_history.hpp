// What was produced under chaos, everything that was said about it, and the comparison with the log
// that an independent client read.
//
// Invariants
// 1. A value is produced once, so that a record in the log names the one that was produced. It may
//    be submitted again by a recovery that allows no duplicates; each submission has one answer.
// 2. The log holds one copy at most. It needs a submission that was delivered (there), or was
//    unknown and is not settled as never written: the rest is an anomaly, and so is a submission
//    that was delivered, or settled so, without its copy.
// 3. Each unknown submission has a ticket of its own, which is settled. What a ticket came to once
//    it came to for good; only "undecidable" is replaced.
//
// Threads: any; one mutex.
#pragma once

#include "integration/foreign_readers.hpp"

#include <partita/outcome.hpp>
#include <partita/settlement.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace partita::chaos {

struct chaos_counts {
  std::uint64_t produced = 0;
  std::uint64_t delivered = 0;
  std::uint64_t not_written = 0;
  std::uint64_t unknown = 0;
  std::uint64_t resubmitted = 0;
  std::uint64_t settled_delivered = 0;
  std::uint64_t settled_never_written = 0;
  std::map<std::string, std::uint64_t> undecidable{};  ///< by reason
  std::uint64_t unsettled = 0;                         ///< nobody asked, or nothing was answered
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
  /// What settle() said of the ticket of an answer.
  void settled(ticket which, const settlement& said);

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
    std::optional<settlement> verdict;  // of an unknown one
  };
  struct entry {
    std::string topic;
    std::string key;
    std::string value;
    bool may_be_gone = false;  // its topic was deleted after it was produced
    std::vector<submission> submissions;
  };
  /// An anomaly that shows without the log.
  struct remark {
    index at;
    const char* anomaly;
    std::string text;
  };
  using places = std::vector<const testing::foreign_record*>;
  struct findings;

  void take_ticket(index at, ticket which);
  void check_log(const std::string& topic, const std::vector<testing::foreign_record>& log,
                 std::vector<places>& copies, findings& found) const;
  void check_entry(const entry& one, const places& copies, findings& found) const;

  mutable std::mutex mutex_;
  std::deque<entry> entries_;
  std::unordered_map<std::string, index> by_value_;
  std::unordered_map<std::uint64_t, index> by_ticket_;
  std::vector<remark> remarks_;
  std::set<std::string> deleted_topics_;
  std::uint64_t open_ = 0;
};

}  // namespace partita::chaos
