// Settings that are kept for other clients' files, and mean nothing to this producer: it says so
// once, when it starts, if one of them is not at its default.
#pragma once

#include <partita/config.hpp>

#include <string>
#include <vector>

namespace partita {

/// A line for each.
[[nodiscard]] std::vector<std::string> settings_without_effect(const producer_config& config);

}  // namespace partita
