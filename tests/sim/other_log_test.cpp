// A log that lost acknowledged records, and goes on below the place where they were: told once, and
// gone on with after recover().
#include "tests/builders/one_partition.hpp"

#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

class OtherLog : public ::testing::TestWithParam<failure_policy> {
 protected:
  std::unique_ptr<producer> make() {
    producer_config config;
    config.linger = 0ms;
    config.on_failure = GetParam();
    config.delivery_timeout = 5s;
    config.request_timeout = 700ms;
    config.bootstrap_servers = world_.bootstrap();
    return make_producer(world_, config, {1, 1});
  }
  outcome produce(const std::string& value) {
    std::optional<outcome> told;
    ours_->produce({.topic = "t", .key = "k", .value = value, .partition = 0},
                   [&told](const outcome& answer) { told = answer; });
    EXPECT_TRUE(world_.time().run_until([&] { return told.has_value(); }, 20s));
    return told.value_or(outcome(failed{}));
  }
  recovery_report recover(recovery how) { return wait_for(world_, ours_->recover("t", 0, how)); }
  std::uint64_t contradictions() { return wait_for(world_, ours_->status()).contradictions; }
  void expect_contradiction(const outcome& told) {
    ASSERT_NE(told.failure(), nullptr);
    EXPECT_EQ(told.failure()->fate, fate::unknown);
    EXPECT_EQ(told.failure()->code, client_errc::invariant_broken);
  }
  void expect_delivered(int from, int to, std::int64_t at) {
    for (int i = from; i < to; ++i, ++at) {
      const outcome told = produce("v" + std::to_string(i));
      ASSERT_TRUE(told.is_delivered()) << i;
      EXPECT_EQ(told.delivery()->offset, offset(at));
      EXPECT_EQ(world_.cluster().log("t", 0).back().value, "v" + std::to_string(i));
    }
  }

  simulation world_{one_partition()};
  std::unique_ptr<producer> ours_ = make();
};

TEST_P(OtherLog, AfterALostTailRecoverGoesOn) {
  expect_delivered(0, 9, 0);
  world_.cluster().roll_back("t", 0, 3);
  const outcome told = produce("B");  // it lies at 3
  expect_contradiction(told);
  EXPECT_EQ(contradictions(), 1U);

  const recovery_report report = recover(recovery::resubmit);

  EXPECT_TRUE(report.was_halted);
  EXPECT_EQ(report.left_out.size(), 1U);
  expect_delivered(9, 20, 4);
  EXPECT_EQ(contradictions(), 1U);
  const settlement verdict = wait_for(world_, ours_->settle(told.failure()->ticket));
  ASSERT_NE(verdict.undecided(), nullptr);
  EXPECT_EQ(verdict.undecided()->reason, client_errc::log_changed);
}

TEST_P(OtherLog, ASecondLossIsToldAgain) {
  expect_delivered(0, 9, 0);
  world_.cluster().roll_back("t", 0, 3);
  expect_contradiction(produce("B"));
  static_cast<void>(recover(recovery::discard));
  expect_delivered(9, 12, 4);
  world_.cluster().roll_back("t", 0, 2);
  expect_contradiction(produce("C"));
  static_cast<void>(recover(recovery::take));
  expect_delivered(12, 14, 3);
  EXPECT_EQ(contradictions(), 2U);
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, OtherLog,
                         ::testing::Values(failure_policy::skip, failure_policy::halt_key,
                                           failure_policy::halt_partition,
                                           failure_policy::fail_following));

}  // namespace
}  // namespace partita::testing
