#include "actors/topic_routes.hpp"

#include "wire/record_batch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace partita::actors {
namespace {

using std::chrono::seconds;

/// Finds no partition for anything, so that records end in the route.
class refusing_router final : public record_router {
 public:
  choice choose(const record&, std::size_t, const partition_table&) noexcept override {
    return {{}, client_errc::invalid_partition};
  }
};

struct noted_barrier final : route_barrier {
  void reached(const partition_table* table) noexcept override {
    times += 1;
    with_table = table != nullptr;
  }
  int times = 0;
  bool with_table = false;
};

/// Takes the answers of records and frees them.
struct answers {
  static void take(void* context, record_node& node, const failed& answer) {
    auto* self = static_cast<answers*>(context);
    self->codes.push_back(answer.code);
    self->values.push_back(node.data);
    release_record_node(node);
    if (self->on_answer) self->on_answer();
  }
  std::vector<std::error_code> codes;
  std::vector<std::uint64_t> values;
  std::function<void()> on_answer;
};

record_node& waiting_node(std::uint64_t number, instant admitted = {}) {
  record one;
  one.value = "v";
  record_node* node =
      make_record_node(one, static_cast<std::uint32_t>(wire::record_tail_size(one)));
  node->data = number;
  node->admitted_ns = admitted.time_since_epoch().count();
  return *node;
}

class TopicRoute : public ::testing::Test {
 protected:
  topic_route route{"orders", std::make_unique<refusing_router>()};
  answers taken;
};

TEST_F(TopicRoute, ExpiresRecordsInTheirOrderAndSaysWhenToComeBack) {
  const instant start{seconds(100)};
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_EQ(route.wait(waiting_node(i, start + seconds(i))), route_answer::waiting);

  const instant next = route.expire(start + seconds(11), seconds(10), {}, &answers::take, &taken);

  EXPECT_EQ(taken.values, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(taken.codes.at(0), make_error_code(client_errc::metadata_timeout));
  EXPECT_EQ(next, start + seconds(12));
  route.close(&answers::take, &taken);
  EXPECT_EQ(taken.codes.back(), make_error_code(client_errc::closed));
}

// It asks for the topic too, but the metadata actor is asked already: found by the histories.
TEST_F(TopicRoute, WhatACallbackProducesWhileOthersExpireIsNotForgotten) {
  const instant start{seconds(100)};
  ASSERT_EQ(route.wait(waiting_node(1, start)), route_answer::waiting);
  taken.on_answer = [&] {
    taken.on_answer = nullptr;
    EXPECT_EQ(route.wait(waiting_node(2, start + seconds(10))), route_answer::waiting);
  };

  const instant next = route.expire(start + seconds(10), seconds(10), {}, &answers::take, &taken);

  EXPECT_EQ(taken.values, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(next, start + seconds(20));
  route.close(&answers::take, &taken);
}

TEST_F(TopicRoute, ABarrierCountsTheFailuresBeforeItOnly) {
  ASSERT_EQ(route.wait(waiting_node(1)), route_answer::waiting);
  ASSERT_EQ(route.wait(waiting_node(2)), route_answer::waiting);
  noted_barrier barrier;
  ASSERT_TRUE(route.wait(barrier));
  ASSERT_EQ(route.wait(waiting_node(3)), route_answer::waiting);

  route.fail_waiting(client_errc::metadata_timeout, {}, &answers::take, &taken);

  EXPECT_EQ(barrier.times, 1);
  EXPECT_FALSE(barrier.with_table);
  EXPECT_EQ(barrier.failed_before, (tally{0, 2, 0}));
}

TEST_F(TopicRoute, NothingWaitsForABarrierWhereNoRecordDoes) {
  noted_barrier barrier;
  EXPECT_FALSE(route.wait(barrier));
}

// A callback of a record that is refused while the table is published may produce to the topic
// again.
TEST_F(TopicRoute, AnswersRefusedRecordsOutsideItsLock) {
  ASSERT_EQ(route.wait(waiting_node(1)), route_answer::waiting);
  noted_barrier barrier;
  ASSERT_TRUE(route.wait(barrier));
  record_node& late = waiting_node(2);
  route_answer seen = route_answer::waiting;
  taken.on_answer = [&] { seen = route.wait(late); };

  route.publish(std::make_unique<partition_table>(), &answers::take, &taken);

  EXPECT_EQ(seen, route_answer::published);
  EXPECT_EQ(taken.codes, (std::vector{make_error_code(client_errc::invalid_partition)}));
  EXPECT_EQ(barrier.failed_before, (tally{0, 1, 0}));
  EXPECT_TRUE(barrier.with_table);
  release_record_node(late);
}

// Counting the barriers behind each record made this quadratic: half a million records took
// minutes.
TEST_F(TopicRoute, GivesUpALongLineInOnePass) {
  constexpr std::uint64_t many = 300'000;
  for (std::uint64_t i = 0; i < many; ++i)
    ASSERT_EQ(route.wait(waiting_node(i)), route_answer::waiting);

  route.close(&answers::take, &taken);

  EXPECT_EQ(taken.codes.size(), many);
}

}  // namespace
}  // namespace partita::actors
