// What `partita check` reads: a script of `partita drive` (or any file of its form) and the
// outcomes that were told about its records, joined by name into a history that the checker judges.
//
// Invariants
// 1. A line that is not understood is an error with its number: half a history judges nothing.
// 2. The last answer of a record counts: a resubmission's over the first, a settlement's over
//    "unknown". Two answers that are neither stay two.
//
// Threads: one.
#pragma once

#include <partita/testing/checker.hpp>

#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace partita::cli {

class outcome_history {
 public:
  /// Lines with "do":"produce" or "produce_batch"; others are passed over. Order is that of the
  /// lines. Empty when all was understood, else what is wrong.
  [[nodiscard]] std::string read_commands(std::istream& from);
  /// Lines with "event":"outcome" or "settled"; others are passed over. A record that no command
  /// named has the members topic, key and value of its line; without value, its name is its value.
  [[nodiscard]] std::string read_outcomes(std::istream& from, const std::string& default_topic);

  [[nodiscard]] const std::vector<testing::produced_record>& records() const noexcept {
    return records_;
  }

 private:
  std::string read_outcome(std::string_view line, const std::string& default_topic);
  testing::produced_record* named(const std::string& name);

  std::vector<testing::produced_record> records_;
  std::map<std::string, std::size_t, std::less<>> names_;
  std::uint64_t last_send_ = 0;
};

}  // namespace partita::cli
