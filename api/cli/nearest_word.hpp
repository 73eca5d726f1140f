// The word that somebody meant who wrote another one.
//
// Threads: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace partita::cli {

/// The one of `known` with the fewest letters wrong; empty when none is near.
[[nodiscard]] std::string nearest_word(std::string_view written,
                                       const std::vector<std::string>& known);

}  // namespace partita::cli
