#include "api/cli/number_option.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace partita::cli {

std::string shown(number_range range) {
  if (range.most == std::numeric_limits<std::uint64_t>::max())
    return range.least == 0 ? "NUMBER" : "NUMBER>=" + std::to_string(range.least);
  return std::to_string(range.least) + ".." + std::to_string(range.most);
}

std::uint64_t read_number(const std::string& option, const std::string& text, number_range range) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stopped == end && number >= range.least && number <= range.most)
    return number;
  throw CLI::ValidationError(option, "takes a whole number from " + std::to_string(range.least) +
                                         " to " + std::to_string(range.most) + ", not '" + text +
                                         "'");
}

}  // namespace partita::cli
