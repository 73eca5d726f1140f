// The batch that ends a transaction in a partition's log.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace partita::testing {

inline constexpr std::int32_t coordinator_epoch = 0;  ///< coordinators never move here

/// A COMMIT or ABORT marker; its place in the log is patched in when it is appended.
std::vector<std::byte> make_marker(std::int64_t producer_id, std::int16_t epoch, bool commit,
                                   std::int64_t now_ms);

/// Whether the marker, a control batch of one record, commits.
bool commits(const std::vector<std::byte>& marker) noexcept;

}  // namespace partita::testing
