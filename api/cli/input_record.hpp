// A record as it was read, and why one could not be read.
#pragma once

#include <partita/ids.hpp>
#include <partita/outcome.hpp>
#include <partita/record.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace partita::cli {

struct input_record {
  std::optional<std::string> topic;  ///< absent: the one of the command line
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<owned_header> headers;
  std::optional<partition_id> partition;
  std::optional<partita::timestamp> timestamp;
};

struct input_error {
  std::size_t column = 0;  ///< counts bytes from 1; 0: the line as a whole
  std::string reason;
};

}  // namespace partita::cli
