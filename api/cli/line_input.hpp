// Bytes to lines, and a line to key and value.
//
// Invariants
// 1. Every byte belongs to exactly one record or is a delimiter, however the bytes were cut on
//    their way in. The last record needs no delimiter; one at the very end starts no record.
// 2. A record longer than the limit is never held as a whole: it is reported once and skipped.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace partita::cli {

class line_input {
 public:
  /// The delimiter is not empty.
  line_input(std::string delimiter, std::size_t record_bytes_max);

  struct line {
    std::string_view bytes;    ///< valid until the next call
    std::uint64_t number = 0;  ///< from 1
    bool too_long = false;     ///< bytes is empty then
  };

  void append(std::string_view bytes);
  /// No bytes follow.
  void finish() noexcept { finished_ = true; }
  /// False: more bytes are needed, or after finish() there is nothing more.
  [[nodiscard]] bool next(line& into);

 private:
  [[nodiscard]] bool take(line& into, std::size_t length, std::size_t delimiter_size);
  void skip_overlong();

  const std::string delimiter_;
  const std::size_t record_bytes_max_;
  std::string bytes_;
  std::size_t begin_ = 0;    // of the next record in bytes_
  std::size_t scanned_ = 0;  // up to where there is no delimiter
  std::uint64_t lines_ = 0;
  bool overlong_ = false;
  bool finished_ = false;
};

struct key_and_value {
  std::optional<std::string_view> key;
  std::string_view value;
};

/// Splits at the first delimiter. Without one in the line, or with an empty one, all is value.
[[nodiscard]] key_and_value split_key(std::string_view line, std::string_view delimiter) noexcept;

/// "\t", "\n", "\r", "\0", "\\" and "\xHH" in an argument of the command line. Empty result:
/// another escape.
[[nodiscard]] std::optional<std::string> unescape(std::string_view text);

}  // namespace partita::cli
