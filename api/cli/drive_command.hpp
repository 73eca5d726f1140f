// One line of `partita drive` to one command.
//
//     {"do":"produce","name":"A","topic":"t","partition":0,"key":"k1","value":"v",
//      "headers":[["h","v"]],"deadline_ms":3000}
//
// Invariants
// 1. What is not understood is an error, never skipped: unknown members, members that the command
//    has no use for, wrong types, numbers out of range.
//
// Threads: pure.
#pragma once

#include "api/cli/input_record.hpp"

#include <partita/recovery.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::cli {

enum class drive_action : std::uint8_t {
  produce,
  produce_batch,
  cancel,
  await,
  settle,
  flush,
  pause,
  resume,
  recover,
  status,
  wait,
  close,
  destroy,
};

/// A record with the name under which its outcome is told.
struct named_record {
  std::string name;
  input_record content;
  std::optional<std::chrono::milliseconds> deadline;
};

struct drive_command {
  std::string verb;  ///< "do" as it was given, also when the rest of the line is wrong
  drive_action action = drive_action::status;
  std::vector<named_record> records;  ///< produce: one; produce_batch: all of them
  std::string name;                   ///< await, cancel, settle
  std::optional<std::string> topic;
  std::optional<partition_id> partition;
  std::optional<std::string> key;
  recovery how = recovery::resubmit;
  bool abort_buffered = false;
  bool allow_duplicates = false;
  bool wait_for_it = false;  ///< "await":true: the next line waits for what this one began
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> deadline;  ///< close
  std::chrono::milliseconds pause_of_script{0};       ///< wait
};

/// Empty when the line was read into `command`, which the caller passes fresh; else what is wrong
/// with it, for people.
[[nodiscard]] std::string parse_drive_command(std::string_view line, drive_command& command);

}  // namespace partita::cli
