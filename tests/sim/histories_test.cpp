// Whole histories by seed: random faults, then every answer against the log. A failing seed prints
// itself; replay it with PARTITA_SEED=n and PARTITA_SEEDS=1.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace partita::testing {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

fault_mix mix_for(seeded_draws& draws) {
  // In a storm hardly an attempt gets through, so that records reach their deadlines.
  const double strength = draws.chance(0.3) ? 6 : 1;
  fault_mix mix;
  mix.lose_request = draws.unit() * 0.08 * strength;
  mix.lose_answer = draws.unit() * 0.08 * strength;
  mix.close_after_answer = draws.unit() * 0.05;
  mix.refuse = draws.unit() * 0.10 * strength;
  mix.append_then_error = draws.unit() * 0.10 * strength;
  mix.delay = draws.unit() * 0.10;
  mix.never_answer = draws.unit() * 0.02 * strength;
  mix.corrupt_answer = draws.unit() * 0.02;
  mix.delay_max = std::chrono::milliseconds(1 + draws.below(4000));
  return mix;
}

struct trace {
  std::string anomalies;
  tally counts;
  std::uint64_t hash = 0;
  bool all_answered = false;
};

trace run(std::uint64_t seed, failure_policy policy, int lanes = 1) {
  seeded_draws draws(seed);
  history_options options;
  options.seed = seed;
  options.lanes = lanes;
  options.config = hurried_config();
  options.config.on_failure = policy;
  options.config.max_in_flight = 1 + static_cast<int>(draws.below(5));
  options.config.linger = std::chrono::milliseconds(draws.below(4));
  history story(options);
  story.cluster().inject(mix_for(draws));
  for (int i = 0; i < 60; ++i) {
    const int partition = static_cast<int>(draws.below(3));
    story.produce(partition, "k" + std::to_string(draws.below(5)), draws.below(300));
    if (draws.chance(0.5)) story.run_for(std::chrono::milliseconds(draws.below(40)));
    if (draws.chance(0.04))
      story.cluster().drop_connections(broker_id(static_cast<std::int32_t>(1 + draws.below(3))),
                                       draws.chance(0.5));
    if (draws.chance(0.03)) {
      const auto partition_moved = static_cast<std::int32_t>(draws.below(3));
      story.cluster().move_leader(history::topic(), partition_moved,
                                  static_cast<std::int32_t>(1 + draws.below(3)));
    }
    if (draws.chance(0.01)) {
      const auto broker = static_cast<std::int32_t>(1 + draws.below(3));
      story.cluster().pause_broker(broker);
      story.world().time().after(std::chrono::seconds(draws.below(15)),
                                 [&story, broker] { story.cluster().resume_broker(broker); });
    }
    if (policy == failure_policy::halt_partition && draws.chance(0.1)) {
      // The application acts on halts now and then; what it does with the records is its affair.
      story.producer()
          .recover(history::topic(), static_cast<std::int32_t>(draws.below(3)), recovery::discard)
          .then([](const recovery_report&) {});
    }
  }
  trace result;
  result.all_answered = story.run_until_answered();
  result.counts = story.counts();
  result.anomalies = story.verdict();
  result.hash = story.world().trace_hash();
  story.end_producer();
  return result;
}

void run_seeds(failure_policy policy, std::uint64_t first, std::uint64_t count, int lanes = 1) {
  const std::uint64_t begin = number_from("PARTITA_SEED", first);
  const std::uint64_t seeds = number_from("PARTITA_SEEDS", count);
  tally sum;
  for (std::uint64_t seed = begin; seed < begin + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const trace result = run(seed, policy, lanes);
    ASSERT_TRUE(result.all_answered) << "a record was not answered";
    ASSERT_EQ(result.anomalies, "");
    ASSERT_EQ(result.counts.total(), 60U);
    sum += result.counts;
  }
  // The faults must bite, or the histories prove nothing.
  EXPECT_GT(sum.delivered, sum.total() / 4);
  if (seeds >= 50) {
    EXPECT_GT(sum.not_written + sum.unknown, 0U);
  }
}

TEST(Histories, AreTruthfulUnderFaultsWithPolicySkip) { run_seeds(failure_policy::skip, 1, 400); }

TEST(Histories, AreTruthfulUnderFaultsWithPolicyHaltPartition) {
  run_seeds(failure_policy::halt_partition, 10'001, 400);
}

TEST(Histories, AreTruthfulOnTwoLanes) { run_seeds(failure_policy::skip, 20'001, 100, 2); }

TEST(Histories, RepeatExactlyWithTheSameSeed) {
  for (std::uint64_t seed = 31; seed < 36; ++seed) {
    const trace first = run(seed, failure_policy::skip);
    const trace again = run(seed, failure_policy::skip);
    EXPECT_EQ(first.hash, again.hash) << "seed " << seed;
    EXPECT_EQ(first.counts, again.counts) << "seed " << seed;
  }
}

TEST(Histories, DeliverEverythingWithoutFaults) {
  history_options options;
  options.config = hurried_config();
  history story(options);
  for (int i = 0; i < 500; ++i) story.produce(i % 3, "k" + std::to_string(i % 17), 50);
  ASSERT_TRUE(story.run_until_answered());
  EXPECT_EQ(story.counts(), (tally{500, 0, 0}));
  EXPECT_EQ(story.verdict(), "");
}

}  // namespace
}  // namespace partita::testing
