// How far a run is, as a line of text: a bar on a terminal, plain lines elsewhere.
//
// Invariants
// 1. A bar never is wider than the terminal, so that redrawing it in place works.
// 2. Formatting is pure; only progress_display writes, and never mixes a line into a bar.
//
// Threads: formatting any; a display may be used by several threads.
#pragma once

#include <partita/outcome.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace partita::cli {

struct progress_view {
  std::uint64_t bytes_read = 0;
  std::optional<std::uint64_t> bytes_total;
  std::uint64_t accepted = 0;
  tally answered;
  std::chrono::milliseconds elapsed{0};
};

/// "[#####-----]  52 %  1.5 M delivered  310 k/s  8192 unanswered", at most `width` columns;
/// failures are named where there are any.
[[nodiscard]] std::string format_bar(const progress_view& view, std::size_t width, bool color);
/// The same as one plain line, without a bar.
[[nodiscard]] std::string format_line(const progress_view& view);
/// 999, 12.3 k, 4.56 M, 7.89 G.
[[nodiscard]] std::string format_count(std::uint64_t count);

/// Writes progress and log lines to standard error.
class progress_display {
 public:
  enum class mode : std::uint8_t { silent, lines, bar };

  /// A bar where standard error is a terminal.
  [[nodiscard]] static mode suitable() noexcept;

  explicit progress_display(mode mode) noexcept;
  ~progress_display();
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  /// Draws if it is time to.
  void update(const progress_view& view);
  /// One line of text, above the bar.
  void say(std::string_view text);
  /// A log line; one that repeats the one before says nothing new.
  void log(std::string_view text);
  /// Takes the bar away.
  void finish();
  /// How long the next update may wait.
  [[nodiscard]] std::chrono::milliseconds interval() const noexcept;

 private:
  void write(std::string_view text) const noexcept;

  const mode mode_;
  const bool color_;
  std::mutex mutex_;
  std::string drawn_;
  std::string logged_;
  std::chrono::milliseconds last_{0};
};

}  // namespace partita::cli
