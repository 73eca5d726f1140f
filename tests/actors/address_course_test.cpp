#include "actors/address_course.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t known = 3;
constexpr std::size_t bootstrap = 2;

struct walker {
  explicit walker(address_course::settings with = {}) : course(with) {}

  /// "k0 k1 b0": where the next `count` attempts went, all of them in vain.
  std::vector<std::string> fail(int count, std::size_t brokers = known,
                                duration each = std::chrono::seconds(1)) {
    std::vector<std::string> path;
    for (int i = 0; i < count; ++i) {
      const auto at = course.next(brokers, bootstrap, now);
      path.push_back((at.bootstrap ? "b" : "k") + std::to_string(at.index));
      now += each;
      course.failed(now);
    }
    return path;
  }

  address_course course;
  instant now{std::chrono::hours(5)};
};

std::set<std::string> set_of(const std::vector<std::string>& path) {
  return {path.begin(), path.end()};
}

TEST(AddressCourse, BeginsWithTheBootstrapServersInTurn) {
  walker w;
  EXPECT_EQ(w.fail(4, 0), (std::vector<std::string>{"b0", "b1", "b0", "b1"}));
  EXPECT_EQ(w.course.rebootstraps(), 0U);
}

TEST(AddressCourse, KnowsWhetherAFailureLeadsToAnotherAddress) {
  walker w;
  EXPECT_TRUE(w.course.next(0, 2, w.now).others);
  EXPECT_FALSE(w.course.next(0, 1, w.now).others);
  EXPECT_TRUE(w.course.next(3, 1, w.now).others);
  EXPECT_FALSE(w.course.next(1, 1, w.now).others);
}

TEST(AddressCourse, TriesEachKnownBrokerBeforeItGoesBackToTheBootstrapServers) {
  walker w;
  const auto first = w.fail(3);
  EXPECT_EQ(set_of(first), (std::set<std::string>{"k0", "k1", "k2"}));
  const auto second = w.fail(2);
  EXPECT_EQ(set_of(second), (std::set<std::string>{"b0", "b1"}));
  const auto third = w.fail(3);
  EXPECT_EQ(set_of(third), (std::set<std::string>{"k0", "k1", "k2"}));
}

// META-12
TEST(AddressCourse, AnOutageIsOneRebootstrapHoweverLongItLasts) {
  walker w;
  w.fail(500);
  EXPECT_EQ(w.course.rebootstraps(), 1U);
  w.course.answered();
  EXPECT_FALSE(w.course.next(known, bootstrap, w.now).bootstrap);
  w.fail(4);
  EXPECT_EQ(w.course.rebootstraps(), 2U);
}

TEST(AddressCourse, GoesBackAfterTheTriggerThoughNotEveryBrokerWasTried) {
  walker w({true, 10s});
  EXPECT_EQ(w.fail(1, 100, 6s).at(0).at(0), 'k');
  EXPECT_EQ(w.fail(1, 100, 6s).at(0).at(0), 'k');
  EXPECT_EQ(w.fail(1, 100, 6s).at(0).at(0), 'k') << "6 s after the first failure";
  EXPECT_EQ(w.fail(1, 100, 6s).at(0).at(0), 'b') << "12 s after it";
  EXPECT_EQ(w.course.rebootstraps(), 1U);
}

TEST(AddressCourse, WithoutTheStrategyKnownBrokersAreAllThereIs) {
  walker w({false, 10s});
  for (const std::string& each : w.fail(50)) EXPECT_EQ(each.at(0), 'k');
  w.course.rebootstrap_required();
  EXPECT_FALSE(w.course.next(known, bootstrap, w.now).bootstrap);
}

TEST(AddressCourse, ABrokerMayAskForIt) {
  walker w;
  w.course.answered();
  w.course.rebootstrap_required();
  EXPECT_TRUE(w.course.next(known, bootstrap, w.now).bootstrap);
  EXPECT_EQ(w.course.rebootstraps(), 1U);
}

}  // namespace
}  // namespace partita::actors
