#include "api/properties_grammar.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace partita {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view blanks = " \t\f";

bool is_blank(char c) noexcept { return blanks.find(c) != std::string_view::npos; }

std::string_view without_leading_blanks(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

/// Takes one line off the text; the end may be \n, \r or \r\n.
std::string_view take_line(std::string_view& text) noexcept {
  const auto end = text.find_first_of("\r\n");
  const std::string_view line = text.substr(0, end);
  if (end == std::string_view::npos) {
    text = {};
    return line;
  }
  text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
  return line;
}

bool goes_on(std::string_view line) noexcept {
  std::size_t backslashes = 0;
  while (backslashes < line.size() && line[line.size() - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

/// Where the key ends: the first '=', ':' or blank without a backslash before it.
std::size_t key_end(std::string_view line) noexcept {
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == '=' || line[at] == ':' || is_blank(line[at])) return at;
    at += line[at] == '\\' ? 2 : 1;
  }
  return line.size();
}

std::optional<std::uint32_t> take_hex4(std::string_view& text) noexcept {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t unit = 0;
  for (const char c : text.substr(0, 4)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<unsigned>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<unsigned>(c - 'A' + 10);
    else
      return std::nullopt;
    unit = unit * 16 + digit;
  }
  text.remove_prefix(4);
  return unit;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

/// Reads what follows "\u", with the second half of a surrogate pair. False if it is malformed.
bool take_unicode(std::string_view& text, std::string& out) {
  const auto unit = take_hex4(text);
  if (!unit || (*unit >= 0xDC00 && *unit <= 0xDFFF)) return false;
  if (*unit < 0xD800 || *unit > 0xDBFF) {
    append_utf8(out, *unit);
    return true;
  }
  if (!text.starts_with("\\u")) return false;
  text.remove_prefix(2);
  const auto low = take_hex4(text);
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
  append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
  return true;
}

bool unescape(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\') {
      out.push_back(c);
      continue;
    }
    if (text.empty()) return true;  // Java drops a lone backslash at the end of the text.
    const char escaped = text.front();
    text.remove_prefix(1);
    switch (escaped) {
      case 't':
        out.push_back('\t');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'u':
        if (!take_unicode(text, out)) return false;
        break;
      default:
        out.push_back(escaped);
    }
  }
  return true;
}

std::string unescape_as_kcat(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool dropped =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == ':' || text[at + 1] == '=');
    if (!dropped) out.push_back(text[at]);
  }
  return out;
}

/// Reads one logical line, whose continuations have been joined.
bool parse_entry(std::string_view line, property& entry) {
  const std::size_t end = key_end(line);
  std::string_view rest = without_leading_blanks(line.substr(std::min(end, line.size())));
  if (!rest.empty() && (rest.front() == '=' || rest.front() == ':'))
    rest = without_leading_blanks(rest.substr(1));
  entry.kcat_value = unescape_as_kcat(rest);
  return unescape(line.substr(0, end), entry.key) && unescape(rest, entry.value);
}

}  // namespace

properties parse_properties(std::string_view text) {
  properties result;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  int line_number = 0;
  while (!text.empty()) {
    std::string_view line = without_leading_blanks(take_line(text));
    const int first_line = ++line_number;
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    // A continuation of nothing begins anew: what follows may be a comment again.
    if (line == "\\") continue;

    std::string joined;
    while (goes_on(line) && !text.empty()) {
      joined += line.substr(0, line.size() - 1);
      line = without_leading_blanks(take_line(text));
      ++line_number;
    }
    joined += line;

    property entry;
    entry.line = first_line;
    if (!parse_entry(joined, entry))
      return {{}, "a malformed \\u escape (four hex digits, surrogates in pairs)", first_line};
    result.entries.push_back(std::move(entry));
  }
  return result;
}

}  // namespace partita
