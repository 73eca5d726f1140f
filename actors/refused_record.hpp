// A record that was refused before it was buffered, on its way through its partition's queue: only
// its key and its size are left of it, and command::flags says why.
//
// Threads: pure.
#pragma once

#include "actors/record_node.hpp"

#include <partita/error.hpp>
#include <partita/outcome.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace partita::actors {

/// Its tail's, as it would have been. What is left of the record has it in place of a value.
struct refused_size {
  std::uint64_t tail_bytes = 0;

  [[nodiscard]] std::string_view as_value() const noexcept {
    return {reinterpret_cast<const char*>(&tail_bytes), sizeof tail_bytes};
  }
};

/// Absent where there was no room for it.
[[nodiscard]] std::optional<refused_size> size_of_refused(const record_node& node);

/// Only a manual partitioner refuses a record that names none.
inline constexpr std::string_view no_partition_text =
    "the partitioner is manual, and the record names no partition";

/// Which limit a code of ours stands for.
[[nodiscard]] constexpr limit limit_of(client_errc code) noexcept {
  switch (code) {
    case client_errc::delivery_timeout:
      return limit::delivery_timeout;
    case client_errc::admission_timeout:
      return limit::admission_timeout;
    case client_errc::metadata_timeout:
      return limit::metadata_timeout;
    default:
      return limit::none;
  }
}

/// Size and limit in words.
[[nodiscard]] std::string too_large_text(std::optional<refused_size> size,
                                         std::size_t request_bytes_max, std::size_t memory_bytes);

/// What there is to say of a refused record; empty where the code says it all.
[[nodiscard]] std::string detail_of_refused(const record_node& node, std::size_t request_bytes_max,
                                            std::size_t memory_bytes);

}  // namespace partita::actors
