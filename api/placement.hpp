// The partition of a record, chosen before there is room for it: where partitions have shares of
// buffer.memory it decides which line the record stands in, and it must be the same when the record
// has come through, whatever became of its topic meanwhile.
//
// Threads: a value.
#pragma once

#include "actors/topic_routes.hpp"

#include <partita/ids.hpp>

#include <cstddef>
#include <optional>

namespace partita::detail {

struct placement {
  actors::topic_route* route = nullptr;            ///< null: still to be looked up
  const actors::partition_table* table = nullptr;  ///< null: it is chosen when it is queued
  partition_id partition;
  bool anywhere = false;  ///< neither a key nor a name decides: any partition with room will do
  std::optional<std::size_t> expected{};  ///< a growth of the topic waits for its arrival

  [[nodiscard]] bool known() const noexcept { return table != nullptr; }
  [[nodiscard]] const actors::partition_actor& actor() const noexcept {
    return *table->partitions[static_cast<std::size_t>(partition.value)].actor;
  }
  /// A topic that was created again may have fewer partitions than when it was chosen.
  [[nodiscard]] bool exists() const noexcept {
    return static_cast<std::size_t>(partition.value) < route->table()->partitions.size();
  }
  /// Of one that may go anywhere: it goes there.
  void move_to(const actors::partition_actor& with_room) noexcept;
};

}  // namespace partita::detail
