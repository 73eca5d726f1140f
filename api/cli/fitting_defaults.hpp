// Defaults that give way to what the user set: `--delivery-timeout 1000` alone shall not be told
// that it conflicts with a request timeout that nobody asked for.
//
// Invariants
// 1. Only settings that the report does not name are changed, and each change is told.
//
// Threads: pure.
#pragma once

#include <partita/properties.hpp>

#include <string>
#include <vector>

namespace partita::cli {

/// One line for people for each default that was changed.
[[nodiscard]] std::vector<std::string> fit_defaults(producer_config& config,
                                                    const config_report& report);

}  // namespace partita::cli
