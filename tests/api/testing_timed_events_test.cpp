#include <partita/testing/timed_events.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace partita::testing {
namespace {

std::string run_all(timed_events& events, std::string& said) {
  while (!events.empty()) events.take_first()();
  return said;
}

TEST(TimedEvents, ComeByTimeThenByTieThenAsTheyWereAdded) {
  timed_events events;
  std::string said;
  const auto say = [&said](char what) { return [&said, what] { said += what; }; };
  events.add(20, 0, say('e'));
  events.add(10, 7, say('c'));
  events.add(10, 7, say('d'));
  events.add(10, 3, say('b'));
  events.add(5, 9, say('a'));
  EXPECT_EQ(events.first_due(), 5);
  EXPECT_EQ(events.size(), 5U);
  EXPECT_EQ(run_all(events, said), "abcde");
}

TEST(TimedEvents, AnEventThatWasCancelledIsNotMet) {
  timed_events events;
  std::string said;
  const auto first = events.add(1, 0, [&said] { said += 'a'; });
  events.add(2, 0, [&said] { said += 'b'; });
  events.cancel(first);
  EXPECT_EQ(events.size(), 1U);
  EXPECT_EQ(events.first_due(), 2) << "what comes first now";
  events.cancel(first);
  EXPECT_EQ(events.size(), 1U) << "once only";
  EXPECT_EQ(run_all(events, said), "b");
}

TEST(TimedEvents, AnOldIdCancelsNothingThatHasItsPlaceNow) {
  timed_events events;
  std::string said;
  const auto taken = events.add(1, 0, [] {});
  events.take_first()();
  const auto next = events.add(1, 0, [&said] { said += 'n'; });
  EXPECT_NE(taken, next);
  events.cancel(taken);
  events.cancel(0);
  events.cancel(~std::uint64_t{0});
  EXPECT_EQ(run_all(events, said), "n");
}

TEST(TimedEvents, AnActionMayAddAndCancel) {
  timed_events events;
  std::string said;
  const auto later = events.add(9, 0, [&said] { said += 'x'; });
  events.add(1, 0, [&] {
    said += 'a';
    events.cancel(later);
    events.add(2, 0, [&said] { said += 'b'; });
  });
  EXPECT_EQ(run_all(events, said), "ab");
}

// Against an ordered map, with as many cancelled as taken: the heap throws away what is dead.
TEST(TimedEvents, AgreeWithAnOrderedMap) {
  timed_events events;
  std::map<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>, std::uint64_t> expected;
  std::vector<std::uint64_t> met;
  std::vector<std::uint64_t> wanted;
  std::uint64_t draw = 1;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    draw = draw * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t kind = draw >> 33U;
    const auto when = static_cast<std::int64_t>((draw >> 20U) % 1000);
    if (kind % 5 < 3 || expected.empty()) {
      const auto id = events.add(when, kind % 3, [&met, i] { met.push_back(i); });
      ASSERT_TRUE(expected.emplace(std::tuple{when, kind % 3, id}, i).second);
    } else if (kind % 5 == 3) {
      const auto which = expected.lower_bound({when, 0, 0});
      if (which == expected.end()) continue;
      events.cancel(std::get<2>(which->first));
      expected.erase(which);
    } else {
      ASSERT_EQ(events.first_due(), std::get<0>(expected.begin()->first));
      events.take_first()();
      wanted.push_back(expected.begin()->second);
      expected.erase(expected.begin());
    }
    ASSERT_EQ(events.size(), expected.size());
  }
  for (const auto& [key, value] : expected) wanted.push_back(value);
  while (!events.empty()) events.take_first()();
  EXPECT_GT(met.size(), 5000U);
  EXPECT_EQ(met, wanted);
}

}  // namespace
}  // namespace partita::testing
