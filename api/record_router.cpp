#include "api/record_router.hpp"

#include "actors/partition_actor.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace partita {
namespace {

/// What a thread last saw of a topic's partitions. Reading it anew for each record would touch a
/// cache line of every partition.
struct seen_partitions {
  static constexpr int uses_max = 128;

  std::uint64_t router = 0;  // another producer's table may lie where one was
  const actors::partition_table* table = nullptr;
  int uses_left = 0;
  std::vector<std::uint64_t> queued;
  std::unique_ptr<bool[]> available;

  void look(std::uint64_t by, const actors::partition_table& now, actors::instant at,
            const record_router::avoidance& avoided) {
    const std::size_t count = now.partitions.size();
    if (queued.size() != count) {
      queued.resize(count);
      available = std::make_unique<bool[]>(count);
    }
    router = by;
    table = &now;
    for (std::size_t i = 0; i < count; ++i) {
      queued[i] = now.partitions[i].actor->queued_bytes();
      available[i] = now.partitions[i].actor->can_be_sent_to(at, avoided.stuck_for) &&
                     (avoided.holds_at_least == 0 || queued[i] < avoided.holds_at_least);
    }
    uses_left = uses_max;
  }
};

thread_local seen_partitions seen;

}  // namespace

std::uint64_t record_router::next_instance() noexcept {
  static std::atomic<std::uint64_t> made{0};
  return made.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool record_router::looks_at_queues(const record& what) const noexcept {
  if (what.partition) return false;
  if (settings_.custom != nullptr || settings_.ignore_keys || !what.key) return true;
  // With a key only these do not look at it; consistent_random takes an empty one for none.
  switch (settings_.kind) {
    case partitioner_kind::random:
    case partitioner_kind::round_robin:
    case partitioner_kind::sticky:
      return true;
    case partitioner_kind::consistent_random:
      return what.key->empty();
    default:
      return false;
  }
}

bool record_router::goes_anywhere(const record& what) const noexcept {
  return settings_.custom == nullptr && settings_.kind != partitioner_kind::manual &&
         looks_at_queues(what);
}

void record_router::look_again() noexcept { seen.uses_left = 0; }

std::optional<partition_id> record_router::of_key(const record& what,
                                                  std::int32_t count) const noexcept {
  if (settings_.custom != nullptr || settings_.ignore_keys) return std::nullopt;
  return partition_of_key(settings_.kind, what.key, count);
}

record_router::choice record_router::choose(const record& what, std::size_t size,
                                            const actors::partition_table& table) noexcept {
  const auto count = static_cast<std::int32_t>(table.partitions.size());
  if (what.key && !what.partition)
    if (const auto keyed = of_key(what, count))
      return {*keyed, {}};  // most records, without a view
  partition_view view;
  view.count = count;
  if (looks_at_queues(what)) {
    if (seen.router != instance_ || seen.table != &table || seen.uses_left-- <= 0)
      seen.look(instance_, table, avoided_.stuck_for.count() > 0 ? clock_.now() : actors::instant(),
                avoided_);
    view.available = {seen.available.get(), table.partitions.size()};
    view.queued_bytes = seen.queued;
  }
  const partition_choice chosen = chooser_.choose(what, size, view);
  return {chosen.partition, chosen.error};
}

}  // namespace partita
