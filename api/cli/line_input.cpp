#include "api/cli/line_input.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::cli {

line_input::line_input(std::string delimiter, std::size_t record_bytes_max)
    : delimiter_(std::move(delimiter)), record_bytes_max_(record_bytes_max) {
  PARTITA_EXPECTS(!delimiter_.empty());
  PARTITA_EXPECTS(record_bytes_max_ > 0);
}

void line_input::append(std::string_view bytes) {
  PARTITA_EXPECTS(!finished_);
  if (begin_ != 0) {
    bytes_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  bytes_.append(bytes);
}

bool line_input::take(line& into, std::size_t length, std::size_t delimiter_size) {
  into.number = ++lines_;
  into.too_long = std::exchange(overlong_, false) || length > record_bytes_max_;
  into.bytes = into.too_long ? std::string_view() : std::string_view(bytes_).substr(begin_, length);
  begin_ += length + delimiter_size;
  scanned_ = begin_;
  return true;
}

/// Forgets what can't be part of a delimiter any more.
void line_input::skip_overlong() {
  overlong_ = true;
  const std::size_t kept = std::min(bytes_.size() - begin_, delimiter_.size() - 1);
  begin_ = bytes_.size() - kept;
  scanned_ = begin_;
}

bool line_input::next(line& into) {
  const std::size_t found = bytes_.find(delimiter_, scanned_);
  if (found != std::string::npos) return take(into, found - begin_, delimiter_.size());
  const std::size_t left = bytes_.size() - begin_;
  if (finished_) return (left > 0 || overlong_) && take(into, left, 0);
  scanned_ = std::max(begin_, bytes_.size() - std::min(bytes_.size(), delimiter_.size() - 1));
  if (left > record_bytes_max_ + delimiter_.size()) skip_overlong();
  return false;
}

key_and_value split_key(std::string_view line, std::string_view delimiter) noexcept {
  if (delimiter.empty()) return {std::nullopt, line};
  const std::size_t at = line.find(delimiter);
  if (at == std::string_view::npos) return {std::nullopt, line};
  return {line.substr(0, at), line.substr(at + delimiter.size())};
}

namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::optional<std::string> unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain.push_back(text[i]);
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case 't':
        plain.push_back('\t');
        break;
      case 'n':
        plain.push_back('\n');
        break;
      case 'r':
        plain.push_back('\r');
        break;
      case '0':
        plain.push_back('\0');
        break;
      case '\\':
        plain.push_back('\\');
        break;
      case 'x': {
        const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        plain.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return plain;
}

}  // namespace partita::cli
