#include "api/cli/nearest_word.hpp"

#include <algorithm>
#include <cstddef>

namespace partita::cli {
namespace {

constexpr std::size_t compared_size_max = 64;

/// Letters to add, to drop, to change, or to swap with their neighbours.
std::size_t letters_wrong(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        cost[i][k] = i + k;
        continue;
      }
      const std::size_t changed = cost[i - 1][k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1);
      cost[i][k] = std::min({cost[i - 1][k] + 1, cost[i][k - 1] + 1, changed});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        cost[i][k] = std::min(cost[i][k], cost[i - 2][k - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view written, const std::vector<std::string>& known) {
  if (written.size() > compared_size_max) return {};
  std::string nearest;
  // Half the letters wrong is another word.
  std::size_t fewest = std::max<std::size_t>(2, written.size() / 3) + 1;
  for (const std::string& each : known) {
    const std::size_t wrong = letters_wrong(written, each);
    if (wrong >= fewest) continue;
    fewest = wrong;
    nearest = each;
  }
  return nearest;
}

}  // namespace partita::cli
