#include "api/config_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace partita {
namespace {

constexpr std::string_view blanks = " \t\r\n\f";

char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool all_digits(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char l, char r) { return lower(l) == lower(r); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> parse_whole(std::string_view text) noexcept {
  text = trimmed(text);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

std::optional<std::int64_t> parse_thousandths(std::string_view text) noexcept {
  text = trimmed(text);
  const auto point = text.find('.');
  const std::string_view before = text.substr(0, point);
  std::string_view after = point == std::string_view::npos ? "" : text.substr(point + 1);
  // ".5" is a number; "5.", "." and nothing at all are not.
  if (after.empty() && (before.empty() || point != std::string_view::npos)) return std::nullopt;
  while (after.size() > 3 && after.back() == '0') after.remove_suffix(1);
  if (after.size() > 3 || !all_digits(after)) return std::nullopt;

  const bool negative = !before.empty() && before.front() == '-';
  const auto whole = before.empty() ? std::optional<std::int64_t>{0} : parse_whole(before);
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  if (!whole || *whole > limit || *whole < -limit) return std::nullopt;

  std::int64_t fraction = 0;
  for (std::size_t digit = 0; digit < 3; ++digit)
    fraction = fraction * 10 + (digit < after.size() ? after[digit] - '0' : 0);
  return *whole * 1000 + (negative ? -fraction : fraction);
}

std::string print_thousandths(std::int64_t thousandths) {
  const std::int64_t whole = thousandths / 1000;
  const std::int64_t rest = thousandths % 1000;
  std::string text = std::to_string(whole < 0 ? -whole : whole);
  if (thousandths < 0) text.insert(text.begin(), '-');
  if (rest == 0) return text;
  std::string decimals = std::to_string(1000 + (rest < 0 ? -rest : rest)).substr(1);
  while (decimals.back() == '0') decimals.pop_back();
  return text + "." + decimals;
}

std::optional<bool> parse_bool(std::string_view text) noexcept {
  text = trimmed(text);
  for (const std::string_view yes : {"true", "t", "1"})
    if (equal_ignoring_case(text, yes)) return true;
  for (const std::string_view no : {"false", "f", "0"})
    if (equal_ignoring_case(text, no)) return false;
  return std::nullopt;
}

std::string shortened(std::string_view value) {
  constexpr std::size_t shown_max = 100;
  if (value.size() <= shown_max) return std::string(value);
  return std::string(value.substr(0, shown_max)) + "... (" + std::to_string(value.size()) +
         " bytes)";
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  // One row of the usual table, kept from row to row.
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t column = 0; column < row.size(); ++column) row[column] = column;
  for (std::size_t line = 1; line <= left.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column < row.size(); ++column) {
      const std::size_t replaced = diagonal + (left[line - 1] == right[column - 1] ? 0 : 1);
      diagonal = row[column];
      row[column] = std::min({replaced, row[column] + 1, row[column - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace partita
