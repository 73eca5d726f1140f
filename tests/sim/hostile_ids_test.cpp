// Ids that no broker should hand out: they are an error of the peer, never a broken contract.
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace partita::testing {
namespace {

class HostileIds : public ::testing::TestWithParam<std::pair<producer_id, producer_epoch>> {};

TEST_P(HostileIds, AreAskedForAgain) {
  simulation_options options;
  options.cluster.topics["orders"].partitions = 1;
  simulation world{options};
  world.cluster().answer_next_id(GetParam().first, GetParam().second);
  const auto producer = make_producer(world, {});
  std::optional<outcome> answer;
  producer->produce({.topic = "orders", .key = {}, .value = "paid"},
                    [&](const outcome& told) { answer = told; });
  static_cast<void>(wait_for(world, producer->flush()));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->is_delivered());
  EXPECT_EQ(world.cluster().log("orders", 0).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(NegativeOnes, HostileIds,
                         ::testing::Values(std::pair(producer_id(7), producer_epoch(-1)),
                                           std::pair(producer_id(-1), producer_epoch(0)),
                                           std::pair(producer_id(-5), producer_epoch(-7))));

}  // namespace
}  // namespace partita::testing
