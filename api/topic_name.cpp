#include "api/topic_name.hpp"

#include <algorithm>
#include <cstddef>

namespace partita {

bool is_topic_name(std::string_view name) noexcept {
  constexpr std::size_t length_max = 249;
  if (name.empty() || name.size() > length_max || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace partita
