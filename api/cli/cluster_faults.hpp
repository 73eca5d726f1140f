// Faults of the simulated cluster as JSON objects; members have the names of their structs.
//
// Threads: pure functions.
#pragma once

#include "api/cli/command_object.hpp"

#include <partita/testing/api_fault.hpp>
#include <partita/testing/fault.hpp>

namespace partita::cli {

[[nodiscard]] testing::fault read_fault(command_object& from);
[[nodiscard]] testing::fault_mix read_fault_mix(command_object& from);
[[nodiscard]] testing::api_fault read_api_fault(command_object& from);
[[nodiscard]] testing::metadata_lie read_metadata_lie(command_object& from);
[[nodiscard]] testing::right read_right(command_object& from);
/// By name, or by Kafka's number.
[[nodiscard]] testing::api read_api(command_object& from, testing::api otherwise);

}  // namespace partita::cli
