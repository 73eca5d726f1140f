#include "api/cli/json_reason.hpp"

#include <string_view>

namespace partita::cli {

/// The parser's text ends with its reason: "... parse error at ...: syntax error while ... - why".
std::string json_reason(const nlohmann::json::exception& thrown) {
  constexpr int number_overflow = 406;
  if (thrown.id == number_overflow) return "a number is out of range";
  const std::string_view what = thrown.what();
  const std::size_t dash = what.rfind(" - ");
  const std::size_t colon = what.find(": ");
  if (dash != std::string_view::npos) return std::string(what.substr(dash + 3));
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

}  // namespace partita::cli
