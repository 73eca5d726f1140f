// The part of cluster_state that decides what clients may do, and what they are told about it.
#include "api/testing/cluster_state.hpp"
#include "api/testing/served_apis.hpp"

#include <algorithm>

namespace partita::testing {

bool cluster_state::denied(right what, std::string_view topic) const {
  return !denied_.empty() && denied_.contains({what, std::string{topic}});
}

bool cluster_state::serves(std::int16_t key, std::int16_t version) const {
  const auto other = offered_.find(key);
  if (other != offered_.end() && !other->second.contains(version)) return false;
  const auto apis = served_apis(options_.version);
  return std::any_of(apis.begin(), apis.end(), [&](const served_api& api) {
    return static_cast<std::int16_t>(api.key) == key && api.served.contains(version);
  });
}

std::vector<std::pair<std::int16_t, wire::version_range>> cluster_state::offered() const {
  std::vector<std::pair<std::int16_t, wire::version_range>> made;
  for (const auto& api : served_apis(options_.version)) {
    const auto key = static_cast<std::int16_t>(api.key);
    const auto other = offered_.find(key);
    const auto range = other == offered_.end() ? api.offered : other->second;
    if (range.first <= range.last) made.emplace_back(key, range);
  }
  return made;
}

std::optional<std::pair<std::int64_t, std::int16_t>> cluster_state::take_scripted_id() {
  if (next_ids_.empty()) return std::nullopt;
  const auto taken = next_ids_.front();
  next_ids_.pop_front();
  return taken;
}

}  // namespace partita::testing
