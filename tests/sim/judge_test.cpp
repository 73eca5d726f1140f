// What the judge of the histories (tests/simulate) takes for right, and what not.
#include "tests/simulate/judge.hpp"

#include <partita/testing/fault.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

namespace partita::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const place only{0, 0};

/// One partition, whose application produces inside its callbacks now and then.
plan with_hooks(failure_policy policy) {
  plan made;
  made.brokers = 1;
  made.partitions = {1};
  made.faults.set(static_cast<std::size_t>(fault_group::hooks));
  producer_config config;
  config.on_failure = policy;
  config.request_timeout = milliseconds(500);
  config.delivery_timeout = seconds(8);
  config.retries = 1;
  config.linger = milliseconds(0);
  made.producers.push_back({config, 1});
  return made;
}

testing::simulation_options one_partition() {
  testing::simulation_options setup;
  setup.cluster.brokers = 1;
  setup.cluster.topics[subject::topic_name(only.first)].partitions = 1;
  return setup;
}

// Callbacks of records that a halt refuses go before what is queued behind those: a recovery that
// was asked for before they ran too. What they produce fails with the record under way, ahead of
// the recovery, which sends it again.
TEST(Judge, KnowsThatACallbackProducesAheadOfARecoveryThatIsQueued) {
  const plan made = with_hooks(failure_policy::fail_following);
  testing::simulation world(one_partition());
  coverage seen;
  const diary silent;
  std::vector<std::unique_ptr<subject>> subjects;
  subjects.push_back(std::make_unique<subject>(world, made, 0, seen, silent));
  subject& mine = *subjects.front();
  mine.produce({only, 0});
  ASSERT_TRUE(world.time().run_until([&] { return mine.everything_answered(); }, seconds(5)));

  testing::fault unanswered;
  unanswered.reply = testing::reply::never;
  unanswered.times = 1000;
  world.cluster().inject(unanswered);
  mine.halt(only, 0);
  mine.produce({only, 1});
  world.time().run_for(milliseconds(800));  // its last attempt is under way
  for (int i = 0; i < 100; ++i) mine.produce({only, 0});
  const std::uint64_t before = mine.records().size();
  mine.recover(only, recovery::resubmit, false);
  world.time().run_for(milliseconds(20));
  const std::uint64_t produced = mine.records().size();
  ASSERT_GT(produced, before) << "no callback produced";
  ASSERT_EQ(mine.recoveries_open(), 1U);
  mine.behave();
  world.cluster().clear_faults();
  ASSERT_TRUE(world.time().run_until(
      [&] { return mine.everything_answered() && mine.recoveries_open() == 0; }, seconds(20)));

  ASSERT_EQ(mine.resubmissions().size(), 1U);
  EXPECT_FALSE(mine.resubmissions().front().records.empty());
  const logs held{{only, {world.cluster().log(subject::topic_name(only.first), only.second)}}};
  for (const finding& each : judge(subjects, held).verdict()) ADD_FAILURE() << each.text;
  mine.destroy();
}

TEST(Judge, HoldsARecordForOneBehindTheRecoveryWhereThatIsSure) {
  record_life one;
  one.order = 7;
  EXPECT_TRUE(may_come_before(one, 8));
  EXPECT_FALSE(may_come_before(one, 7));
  one.from_callback = true;
  one.begun = 5;  // record 4 was delivered by then
  EXPECT_TRUE(may_come_before(one, 5));
  EXPECT_FALSE(may_come_before(one, 4));
}

}  // namespace
}  // namespace partita::simulate
