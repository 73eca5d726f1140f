// The choice of a record's partition: the interface for choices of the application's own, and the
// built-in choice by key as a pure function.
//
// Invariants
// 1. A record gets its partition once. Retries keep it, and a topic that grows moves no record.
// 2. The same key, kind and partition count always give the same partition, in every version.
//
// Threads: choose() is called by the threads that produce, many at a time.
#pragma once

#include <partita/config.hpp>
#include <partita/ids.hpp>
#include <partita/record.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace partita {

/// What is known of a topic's partitions at the moment of the choice. The arrays have one element a
/// partition and neither change nor go away during the call.
struct partition_view {
  std::int32_t count = 0;                         ///< partitions 0 to count-1; at least one
  std::span<const bool> available{};              ///< empty: all are
  std::span<const std::uint64_t> queued_bytes{};  ///< not yet answered; empty: not known
};

/// Implemented by the application and given as `producer_config::custom_partitioner`. It must
/// outlive the producer.
class partitioner {
 public:
  partitioner() = default;
  partitioner(const partitioner&) = delete;
  partitioner& operator=(const partitioner&) = delete;
  virtual ~partitioner() = default;

  /// Any value outside 0 to count-1 fails the record with `client_errc::partitioner_failed`. Not
  /// called for a record that says its partition.
  [[nodiscard]] virtual partition_id choose(const record& record,
                                            const partition_view& partitions) const noexcept = 0;
};

/// The partition that a built-in kind gives a key (absent and empty differ); absent where the kind
/// does not decide by this key. `count` must be positive.
[[nodiscard]] std::optional<partition_id> partition_of_key(partitioner_kind kind,
                                                           std::optional<std::string_view> key,
                                                           std::int32_t count) noexcept;

/// The name used by the key `partitioner`.
[[nodiscard]] std::string_view name_of(partitioner_kind kind) noexcept;

/// The line a producer logs when it starts: which partitioner is in use, with a warning when keys
/// land on other partitions than those of Kafka's Java producer.
[[nodiscard]] std::string partitioner_notice(const producer_config& config);

}  // namespace partita
