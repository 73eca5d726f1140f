// What `partita check` reads: a script of `partita drive` (or any file of its form) and the
// outcomes that were told about its records, joined by name into a history that the checker judges.
//
// Invariants
// 1. An outcome that is not understood is an error with its line's number: half a history judges
//    nothing.
// 2. Commands mean what they mean to `partita drive`, which goes on after a line that it refuses
//    (one that is not understood, a name that is taken, a batch with two deadlines): what it
//    refuses is no record here either, and a note tells so.
// 3. The last answer of a record counts: a resubmission's over the first, a settlement's over
//    "unknown". Two answers that are neither stay two.
//
// Threads: one.
#pragma once

#include "api/cli/drive_command.hpp"

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
  /// lines. Empty, or why the end could not be read.
  [[nodiscard]] std::string read_commands(std::istream& from);
  /// Lines with "event":"outcome" or "settled"; others are passed over. A record that no command
  /// named has the members topic, key and value of its line; without value, its name is its value.
  [[nodiscard]] std::string read_outcomes(std::istream& from, const std::string& default_topic);

  /// One line for people for each record that was named and not produced.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] const std::vector<testing::produced_record>& records() const noexcept {
    return records_;
  }

 private:
  void take_batch(const drive_command& batch, const std::string& where);
  void take_record(const named_record& one, std::uint64_t send, const std::string& where);
  std::string read_outcome(std::string_view line, const std::string& default_topic);
  testing::produced_record* named(const std::string& name);

  std::vector<testing::produced_record> records_;
  std::map<std::string, std::size_t, std::less<>> names_;
  std::vector<std::string> notes_;
  std::uint64_t last_send_ = 0;
};

}  // namespace partita::cli
