// Gives the partition chooser of a topic what it wants to know about the partitions.
//
// Threads: choose() from any thread, many at a time. Queue lengths and availability are read from
// the partitions' actors as they are at some recent moment; the choice for a key does not depend on
// them.
#pragma once

#include "actors/environment.hpp"
#include "actors/topic_routes.hpp"
#include "api/partition_chooser.hpp"

#include <cstdint>
#include <optional>

namespace partita {

class record_router final : public actors::record_router {
 public:
  /// What makes a partition count as not available to records without a key; zero: nothing does.
  struct avoidance {
    actors::duration stuck_for{};      ///< its leader could not be sent to for longer
    std::uint64_t holds_at_least = 0;  ///< its records take as much of the memory
  };

  record_router(const chooser_settings& settings, std::uint64_t seed,
                const actors::clock_source& clock, const avoidance& avoided)
      : settings_(settings), avoided_(avoided), clock_(clock), chooser_(settings, seed) {}

  [[nodiscard]] choice choose(const record& what, std::size_t size,
                              const actors::partition_table& table) noexcept override;
  [[nodiscard]] std::optional<partition_id> of_key(const record& what,
                                                   std::int32_t count) const noexcept override;
  [[nodiscard]] bool goes_anywhere(const record& what) const noexcept override;
  void look_again() noexcept override;

 private:
  static std::uint64_t next_instance() noexcept;
  [[nodiscard]] bool looks_at_queues(const record& what) const noexcept;

  const chooser_settings settings_;
  const avoidance avoided_;
  const actors::clock_source& clock_;
  const std::uint64_t instance_ = next_instance();  // tells routers apart in thread-local caches
  partition_chooser chooser_;
};

}  // namespace partita
