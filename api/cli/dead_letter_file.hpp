// Records that were not delivered, as lines that `partita produce --input jsonl` reads again.
//
// Invariants
// 1. A line is a record only with its line feed; it is appended by one write where the system takes
//    it at once.
// 2. What a run that was killed left of its last line is cut off when the file is opened: no torn
//    line is ever read as a record, or spoils the next one (CLI-03). Nothing else is taken away.
// 3. Each line says whether the record was not written or may have been.
//
// Threads: one.
#pragma once

#include "api/cli/input_record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace partita::cli {

/// One line, its line feed included. `source` names the input and the line.
[[nodiscard]] std::string dead_letter_line(const input_record& content, const failed& why,
                                           const std::string& source);

class dead_letter_file {
 public:
  dead_letter_file() noexcept = default;
  dead_letter_file(const dead_letter_file&) = delete;
  dead_letter_file& operator=(const dead_letter_file&) = delete;
  ~dead_letter_file();

  /// Makes the file, or goes on behind what it holds. An error is one line for people.
  [[nodiscard]] std::string open(const std::string& path);
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Bytes of a torn line that opening has cut off.
  [[nodiscard]] std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }
  /// A whole line with its line feed.
  [[nodiscard]] std::error_code append(const std::string& line);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] std::string mend_tail();

  int descriptor_ = -1;
  std::string path_;
  std::uint64_t torn_bytes_ = 0;
};

}  // namespace partita::cli
