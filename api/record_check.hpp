// What is wrong with a record in itself, before there is a question of room: asked by the producer
// and by its mock, so that both refuse the same.
//
// Threads: pure.
#pragma once

#include "actors/record_node.hpp"
#include "wire/record_batch.hpp"

#include <partita/duration.hpp>
#include <partita/error.hpp>
#include <partita/record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace partita::detail {

/// What a record takes.
struct record_size {
  std::size_t tail;    ///< bytes of what does not depend on its batch
  std::uint64_t cost;  ///< of buffer.memory
};

[[nodiscard]] inline record_size size_of(const record& what) noexcept {
  const std::size_t tail = wire::record_tail_size(what);
  return {tail, actors::record_cost(tail)};
}

/// What a configuration allows one.
struct record_limits {
  std::size_t request_bytes_max;
  std::uint64_t memory_bytes;
};

/// Its topic's name, partition, timestamp and headers. client_errc{}: nothing is wrong.
[[nodiscard]] client_errc check_contents(const record& what) noexcept;
/// The same without the name.
[[nodiscard]] client_errc check_parts(const record& what) noexcept;
/// The latter, its size, and a delivery timeout of its own that is over.
[[nodiscard]] client_errc check_record(
    const record& what, const record_size& size, const record_limits& limits,
    const std::optional<std::chrono::milliseconds>& delivery_timeout) noexcept;

}  // namespace partita::detail
