#include "api/cli/progress.hpp"

#include "api/cli/printable.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view erase_line = "\r\x1b[K";
constexpr std::size_t bar_cells_max = 24;

std::uint64_t percent(const progress_view& view) noexcept {
  if (!view.bytes_total || *view.bytes_total == 0) return 100;
  const double part = static_cast<double>(view.bytes_read) / static_cast<double>(*view.bytes_total);
  return static_cast<std::uint64_t>(std::clamp(part, 0.0, 1.0) * 100);
}

std::uint64_t per_second(const progress_view& view) noexcept {
  if (view.elapsed.count() <= 0) return 0;
  return view.answered.delivered * 1000 / static_cast<std::uint64_t>(view.elapsed.count());
}

std::uint64_t unanswered(const progress_view& view) noexcept {
  const std::uint64_t answered = view.answered.total();
  return view.accepted > answered ? view.accepted - answered : 0;
}

std::string text_of(const progress_view& view) {
  std::string text = format_count(view.answered.delivered) + " delivered  " +
                     format_count(per_second(view)) + "/s  " + format_count(unanswered(view)) +
                     " unanswered";
  if (view.answered.not_written > 0)
    text += "  " + format_count(view.answered.not_written) + " not written";
  if (view.answered.unknown > 0) text += "  " + format_count(view.answered.unknown) + " unknown";
  return text;
}

std::string percent_text(const progress_view& view) {
  if (!view.bytes_total) return format_count(view.bytes_read) + "B read";
  std::string number = std::to_string(percent(view));
  return std::string(3 - std::min<std::size_t>(3, number.size()), ' ') + number + " %";
}

std::size_t terminal_width() noexcept {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool color_wanted() noexcept {
  const char* refused = std::getenv("NO_COLOR");
  return refused == nullptr || *refused == '\0';
}

}  // namespace

std::string format_count(std::uint64_t count) {
  if (count < 1000) return std::to_string(count);
  constexpr std::array units = {" k", " M", " G", " T"};
  double value = static_cast<double>(count) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, units[unit]);
  return text.data();
}

std::string format_line(const progress_view& view) {
  return percent_text(view) + "  " + text_of(view);
}

std::string format_bar(const progress_view& view, std::size_t width, bool color) {
  std::string text = format_line(view);
  const std::size_t columns = width > 0 ? width - 1 : 0;  // the last column makes terminals wrap
  if (text.size() > columns) return text.substr(0, columns);
  const std::size_t room = columns - text.size();
  if (!view.bytes_total || room < 8) return text;
  const std::size_t cells = std::min(bar_cells_max, room - 3);
  const std::size_t full = cells * percent(view) / 100;
  const std::string done(full, '#');
  const std::string left(cells - full, '-');
  const bool bad = !view.answered.all_delivered();
  const std::string paint = !color ? "" : bad ? "\x1b[31m" : "\x1b[32m";
  return "[" + paint + done + (color ? "\x1b[0m" : "") + left + "] " + text;
}

progress_display::mode progress_display::suitable() noexcept {
  return ::isatty(STDERR_FILENO) != 0 ? mode::bar : mode::lines;
}

progress_display::progress_display(mode mode) noexcept : mode_(mode), color_(color_wanted()) {}

progress_display::~progress_display() { finish(); }

std::chrono::milliseconds progress_display::interval() const noexcept {
  return mode_ == mode::bar ? 100ms : 5s;
}

void progress_display::update(const progress_view& view) {
  if (mode_ == mode::silent) return;
  std::lock_guard lock(mutex_);
  if (view.elapsed - last_ < interval()) return;
  last_ = view.elapsed;
  if (mode_ == mode::lines) return write(format_line(view) + "\n");
  drawn_ = format_bar(view, terminal_width(), color_);
  write(std::string(erase_line) + drawn_);
}

void progress_display::say(std::string_view text) {
  std::lock_guard lock(mutex_);
  std::string all = drawn_.empty() ? std::string() : std::string(erase_line);
  all.append(printable_message(text)).append("\n").append(drawn_);
  write(all);
}

void progress_display::log(std::string_view text) {
  {
    std::lock_guard lock(mutex_);
    if (text == logged_) return;
    logged_ = text;
  }
  say(text);
}

void progress_display::finish() {
  std::lock_guard lock(mutex_);
  if (!drawn_.empty()) write(erase_line);
  drawn_.clear();
}

void progress_display::write(std::string_view text) const noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // nowhere to complain
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace partita::cli
