// What the application hands in.
#pragma once

#include <partita/ids.hpp>
#include <partita/outcome.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// One header. Keys may repeat and order is kept; a null value differs from an empty one.
struct header {
  std::string_view key{};  ///< UTF-8, never null
  std::optional<std::string_view> value{};
};

/// A record as views of the caller's bytes. They must stay valid until the call that takes the
/// record returns (callback forms) or until the `co_await` has started; they are copied then and
/// never used after.
struct record {
  std::string_view topic{};
  std::optional<std::string_view> key{};    ///< absent (null) and empty differ
  std::optional<std::string_view> value{};  ///< absent is a tombstone
  std::span<const header> headers{};
  std::optional<partition_id> partition{};  ///< absent: the partitioner chooses
  /// Absent: the wall clock at admission. Kafka counts milliseconds and the clock more, so write
  /// `std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())`.
  std::optional<partita::timestamp> timestamp{};
};

/// A header and a record that own their bytes; what recover(take) and close() hand back.
struct owned_header {
  std::string key{};
  std::optional<std::string> value{};
  friend bool operator==(const owned_header&, const owned_header&) = default;
};

struct owned_record {
  std::string topic{};
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::vector<owned_header> headers{};
  partition_id partition{};
  partita::timestamp timestamp{};
};

}  // namespace partita
