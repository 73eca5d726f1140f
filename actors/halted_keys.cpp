#include "actors/halted_keys.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::actors {

const halted_key* halted_keys::find(std::uint32_t hash) const {
  const auto found = keys_.find(hash);
  return found == keys_.end() ? nullptr : &found->second;
}

bool halted_keys::holds(std::uint32_t hash, std::uint64_t ordinal) const {
  const halted_key* found = find(hash);
  return found != nullptr && ordinal >= found->from;
}

bool halted_keys::add(std::uint32_t hash, std::uint64_t from, std::error_code cause,
                      std::string_view key) {
  PARTITA_EXPECTS(hash != 0);
  const auto [at, added] = keys_.try_emplace(hash);
  if (!added) {
    at->second.from = std::min(at->second.from, from);
    return false;
  }
  PARTITA_EXPECTS(keys_.size() <= keys_max, keys_.size());
  at->second = {from, cause, std::string(key.substr(0, key_bytes_max))};
  return true;
}

}  // namespace partita::actors
