// Commands to a simulated cluster, one JSON object a line; docs/testing.md lists them.
//
// Invariants
// 1. Every line gets one line in answer: {"ok":true,...} or {"ok":false,"error":"..."}.
// 2. A line that is not understood changes nothing.
//
// Threads: any; the cluster locks itself.
#pragma once

#include <partita/testing/cluster.hpp>

#include <string>
#include <string_view>

namespace partita::cli {

[[nodiscard]] std::string run_cluster_command(testing::cluster& cluster, std::string_view line);

}  // namespace partita::cli
