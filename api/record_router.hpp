// Gives the partition chooser of a topic what it wants to know about the partitions.
//
// Threads: choose() from any thread, many at a time. Queue lengths and availability are read from
// the partitions' actors as they are at some recent moment; the choice for a key does not depend on
// them.
#pragma once

#include "actors/topic_routes.hpp"
#include "api/partition_chooser.hpp"

namespace partita {

class record_router final : public actors::record_router {
 public:
  record_router(const chooser_settings& settings, std::uint64_t seed)
      : settings_(settings), chooser_(settings, seed) {}

  [[nodiscard]] choice choose(const record& what, std::size_t size,
                              const actors::partition_table& table) noexcept override;

 private:
  [[nodiscard]] bool looks_at_queues(const record& what) const noexcept;

  const chooser_settings settings_;
  partition_chooser chooser_;
};

}  // namespace partita
