// What a test produced and what it was answered, compared with what a foreign client found in the
// log.
//
// Invariants
// 1. No two records of a history have the same key, value and headers, so that a record in the log
// names
//    the one that was produced.
// 2. The comparison never stops at the first difference, and one that is empty saw every record.
// Threads: produce() belongs to one thread; answers may come from any. Compare when all is
// answered.
#pragma once

#include "integration/foreign_readers.hpp"

#include <partita/outcome.hpp>
#include <partita/producer.hpp>
#include <partita/record.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {

/// One record, where the test wants it, and its answers.
struct history_entry {
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<owned_header> headers;
  std::optional<partition_id> partition;
  std::optional<partita::timestamp> timestamp;
  std::vector<outcome> answers{};
};

class acknowledged_history {
 public:
  explicit acknowledged_history(std::string topic) : topic_(std::move(topic)) {}

  const std::string& topic() const { return topic_; }
  /// Those entries are safe to read once everything is answered.
  const std::deque<history_entry>& entries() const { return entries_; }
  /// Records that have no answer yet.
  std::size_t unanswered() const;

  /// Hands the record to the producer and keeps its answer. Waits while more than `unanswered_max`
  /// records are without one.
  void produce(producer& producer, history_entry entry, std::size_t unanswered_max = 20'000);

  /// Adds a record that needs no producer, with the answer it got.
  void keep(history_entry entry, const outcome& answer) { answered(add(std::move(entry)), answer); }

  /// In what answers and log differ, one line each (the first 20); empty if in nothing. With
  /// `one_order` the log of a partition must keep the order of producing, else only that of each
  /// key.
  std::string differences(const std::vector<foreign_record>& log, bool one_order = true) const;

  /// What the console consumer prints for the delivered records, sorted.
  std::vector<std::string> console_lines(const std::string& timestamp_type = "CreateTime") const;

  tally tallied() const;

 private:
  std::size_t add(history_entry entry);
  void answered(std::size_t index, const outcome& answer);

  const std::string topic_;
  std::deque<history_entry> entries_;
  std::map<std::string, std::size_t> by_content_;
  mutable std::mutex mutex_;  ///< guards the answers
  std::size_t answered_ = 0;
};

}  // namespace partita::testing
