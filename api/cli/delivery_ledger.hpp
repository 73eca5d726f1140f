// What became of the records of a run: counts per partition, and the reasons of failures.
//
// Invariants
// 1. Every accepted record is counted once, when it is answered.
// 2. The reasons kept are bounded, their counts are not: what does not fit is counted as "others".
//
// Threads: answered() on lanes, the rest on any thread. It outlives the producer.
#pragma once

#include <partita/ids.hpp>
#include <partita/outcome.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace partita::cli {

struct partition_counts {
  std::string topic;
  partition_id partition;  ///< not known() for records that never got one
  tally counts;
  offset first;  ///< lowest and highest acknowledged offset
  offset last;
};

struct failure_reason {
  std::string text;
  bool unknown = false;  ///< fate
  std::uint64_t count = 0;
  std::string first_detail{};  ///< of the first of them: sizes, or what the broker said
};

struct ledger_view {
  tally counts;
  std::vector<partition_counts> partitions;  ///< sorted by topic and partition
  std::vector<failure_reason> reasons;       ///< in the order of their first appearance
  bool halted = false;  ///< a record was refused because its partition is halted
  bool denied = false;
  bool unreachable = false;  ///< a record failed because no broker could be talked to
};

class delivery_ledger {
 public:
  /// What a record's callback carries: one pointer, so that it needs no memory.
  struct topic_entry {
    delivery_ledger* ledger;
    std::string name;
    std::map<std::int32_t, partition_counts> partitions;
  };

  using hook = void (*)(void* context) noexcept;
  /// `after_answer` is called on the lane after each answer.
  explicit delivery_ledger(hook after_answer = nullptr, void* context = nullptr) noexcept
      : after_answer_(after_answer), context_(context) {}

  topic_entry& topic(std::string_view name);
  void answered(topic_entry& topic, const outcome& answer);

  [[nodiscard]] tally counts() const;
  [[nodiscard]] ledger_view view() const;

 private:
  void count(topic_entry& topic, const outcome& answer);
  void note_failure(const failed& failure);

  const hook after_answer_;
  void* const context_;
  mutable std::mutex mutex_;
  std::deque<topic_entry> topics_;
  tally counts_;
  std::vector<failure_reason> reasons_;
  std::uint64_t other_not_written_ = 0;
  std::uint64_t other_unknown_ = 0;
  bool halted_ = false;
  bool denied_ = false;
  bool unreachable_ = false;
};

/// "MESSAGE_TOO_LARGE: ... (connection refused): the record takes ..., after 3 attempts"; for
/// people.
[[nodiscard]] std::string describe(const failed& failure);

}  // namespace partita::cli
