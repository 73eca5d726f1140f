// How long a partition stands still when its leader moves, in virtual time.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

std::string nth(int i) { return "r" + std::to_string(i); }

constexpr auto round_trip = 2 * 500us;  // at most; the links draw between 50 and 500 us
constexpr auto backoff = 120ms;         // retry.backoff.ms and its jitter of a fifth (KIP-580)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 20;
#else
constexpr std::uint64_t seeds = 200;
#endif

/// From the move to the first acknowledgement of a record that was produced after it.
std::chrono::nanoseconds recovery(std::uint64_t seed, emulation version) {
  stage s(seed, stage_place::simulated);
  s.set_cluster().version = version;
  s.start();
  for (int i = 0; i < 5; ++i) {
    s.produce(nth(i));
    s.run(std::chrono::microseconds(s.draws().below(1000)));
  }
  const broker_id before = s.cluster().view("t", 0)->leader;
  s.move(0, broker_id(before.value % 3 + 1));
  for (int i = 5; i < 10; ++i) s.produce(nth(i));
  s.await_all();
  s.finish();
  EXPECT_EQ(s.log(), "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9") << seed;
  return s.took("r5");
}

std::chrono::nanoseconds percentile_99(emulation version) {
  std::vector<std::chrono::nanoseconds> all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) all.push_back(recovery(seed, version));
  std::sort(all.begin(), all.end());
  return all[all.size() * 99 / 100];
}

// A leader that has resigned names the new one in its answer (KIP-951).
TEST(leader_move, with_a_hint_it_takes_round_trips_only) {
  EXPECT_LE(percentile_99(emulation::kafka_4_4), 6 * round_trip);
}

TEST(leader_move, without_hints_two_metadata_round_trips_and_a_backoff_are_enough) {
  EXPECT_LE(percentile_99(emulation::kafka_2_4), 2 * round_trip + backoff);
}

}  // namespace
}  // namespace partita::testing
