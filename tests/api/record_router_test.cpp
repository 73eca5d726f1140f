#include "api/record_router.hpp"

#include "actors/cluster_services.hpp"
#include "actors/partition_actor.hpp"
#include "actors/producer_shared.hpp"
#include "actors/cluster_map.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace partita {
namespace {

class no_cluster final : public actors::cluster_services {
 public:
  void refresh_metadata() noexcept override {}
  void take_hints(actors::leader_hints) noexcept override {}
  void want_producer_id(actors::partition_actor&, bool) noexcept override {}
};

class still_clock final : public actors::clock_source {
 public:
  [[nodiscard]] actors::instant now() const noexcept override { return {}; }
  [[nodiscard]] timestamp wall_now() const noexcept override { return {}; }
};

// What a thread has seen of a topic's partitions was taken for that of another producer's topic,
// whose table had come to lie where the first one's was.
TEST(RecordRouter, TheTableOfAnotherProducerMayLieWhereOneWas) {
  const still_clock clock;
  actors::producer_shared shared(1000);
  shared.clock = &clock;
  no_cluster cluster;
  actors::partition_settings settings;
  std::vector<std::unique_ptr<actors::partition_actor>> bodies;
  actors::partition_table table;
  record keyless;
  keyless.topic = "t";
  for (const std::size_t count : {std::size_t{3}, std::size_t{5}, std::size_t{1}}) {
    while (bodies.size() < count)
      bodies.push_back(std::make_unique<actors::partition_actor>(
          "t", topic_id(), partition_id(static_cast<std::int32_t>(bodies.size())), settings, shared,
          cluster));
    table.partitions.clear();
    for (std::size_t i = 0; i < count; ++i) table.partitions.push_back({bodies[i].get(), {}});
    record_router router({}, 1, clock, {});
    const auto choice = router.choose(keyless, 10, table);
    EXPECT_EQ(choice.error, client_errc{});
    EXPECT_LT(choice.partition.value, static_cast<std::int32_t>(count));
  }
}

}  // namespace
}  // namespace partita
