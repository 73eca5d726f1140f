#include "api/cli/printable.hpp"

#include <cstddef>

namespace partita::cli {
namespace {

constexpr unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// Bytes of the well-formed character that begins there (RFC 3629), and is no control; 0: there is
/// none.
std::size_t character_at(std::string_view text, std::size_t at) noexcept {
  const unsigned first = byte_at(text, at);
  const unsigned second = byte_at(text, at + 1);
  if (first < 0x80) return first == '\n' || (first >= 0x20 && first != 0x7f) ? 1 : 0;
  const std::size_t size = first >= 0xc2 && first <= 0xdf   ? 2
                           : first >= 0xe0 && first <= 0xef ? 3
                           : first >= 0xf0 && first <= 0xf4 ? 4
                                                            : 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte_at(text, at + i) & 0xc0U) != 0x80U) return 0;
  const bool wrong = (first == 0xc2 && second < 0xa0) ||   // a control
                     (first == 0xe0 && second < 0xa0) ||   // overlong
                     (first == 0xed && second >= 0xa0) ||  // half of a pair
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return wrong ? 0 : size;
}

}  // namespace

std::string printable_message(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t size = character_at(text, at); size > 0) {
      shown.append(text.substr(at, size));
      at += size;
      continue;
    }
    const unsigned byte = byte_at(text, at++);
    shown.append("\\x").append({digits[byte >> 4U], digits[byte & 0xfU]});
  }
  return shown;
}

}  // namespace partita::cli
