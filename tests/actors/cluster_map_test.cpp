#include "actors/cluster_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace partita::actors {
namespace {

using kind = cluster_change_kind;
using changes = std::vector<cluster_change>;

constexpr topic_id first_id{1, 1};
constexpr topic_id second_id{1, 2};
constexpr auto unknown_topic = broker_errc::unknown_topic_or_partition;

broker_endpoint endpoint(int id) {
  return {.id = id, .host = "broker-" + std::to_string(id), .port = 9092};
}

partition_answer led(int index, int leader, int epoch) {
  return {.index = index, .leader = leader, .epoch = epoch, .replicas = {leader, 1, 2}};
}

topic_answer orders(std::vector<partition_answer> partitions, topic_id id = first_id) {
  return {.name = "orders", .id = id, .partitions = std::move(partitions)};
}

metadata_answer answer(std::vector<topic_answer> topics) {
  return {.cluster_id = "cluster",
          .controller = 1,
          .brokers = {endpoint(1), endpoint(2), endpoint(3)},
          .topics = std::move(topics)};
}

cluster_snapshot known(std::vector<topic_answer> topics) {
  return cluster_map::merge(cluster_map{}, answer(std::move(topics)));
}

TEST(ClusterMap, KnowsNothingAtFirst) {
  const cluster_map nothing;
  EXPECT_EQ(nothing.topic("orders"), nullptr);
  EXPECT_EQ(nothing.partition("orders", 0), nullptr);
  EXPECT_EQ(nothing.broker(1), nullptr);
  EXPECT_FALSE(nothing.controller().known());
}

TEST(ClusterMap, FindsWhatAnAnswerSaid) {
  const auto map = known({orders({led(1, 3, 5), led(0, 2, 4)})});
  EXPECT_EQ(map->cluster_id(), "cluster");
  EXPECT_EQ(map->controller(), broker_id{1});
  EXPECT_EQ(map->broker(2)->host, "broker-2");
  EXPECT_EQ(map->partition("orders", 0)->leader, broker_id{2});
  EXPECT_EQ(map->partition("orders", 1)->leader, broker_id{3});
  EXPECT_EQ(map->partition("orders", 1)->epoch, leader_epoch{5});
  EXPECT_EQ(map->partition("orders", 2), nullptr);
  EXPECT_EQ(map->partition("orders", -1), nullptr);
  const auto replicas = map->topic("orders")->replicas(1);
  EXPECT_EQ(std::vector<broker_id>(replicas.begin(), replicas.end()),
            (std::vector<broker_id>{3, 1, 2}));
}

TEST(ClusterMap, FindsEachOfManyTopicsWhateverTheirOrder) {
  const auto map = known({{.name = "b", .partitions = {led(0, 1, 1)}},
                          {.name = "c", .partitions = {led(0, 2, 1)}},
                          {.name = "a", .partitions = {led(0, 3, 1)}}});
  EXPECT_EQ(map->partition("a", 0)->leader, broker_id{3});
  EXPECT_EQ(map->partition("b", 0)->leader, broker_id{1});
  EXPECT_EQ(map->partition("c", 0)->leader, broker_id{2});
  EXPECT_EQ(map->topic("bb"), nullptr);
}

TEST(ClusterMap, IgnoresAnOlderLeaderEpochOfTheSameTopic) {
  const auto map = known({orders({led(0, 2, 7), led(1, 2, 7)})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, 1, 6), led(1, 1, 8)})}));
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{2});
  EXPECT_EQ(later->partition("orders", 0)->epoch, leader_epoch{7});
  EXPECT_EQ(later->partition("orders", 1)->leader, broker_id{1});
}

TEST(ClusterMap, BelievesTheSameEpochAgain) {
  const auto map = known({orders({led(0, 2, 7)})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, -1, 7)})}));
  EXPECT_FALSE(later->partition("orders", 0)->leader.known());
}

TEST(ClusterMap, BelievesAnswersWithoutEpochs) {
  const auto map = known({orders({led(0, 2, 7)})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, 3, -1)})}));
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{3});
}

TEST(ClusterMap, BelievesTheLowEpochsOfARecreatedTopic) {
  const auto map = known({orders({led(0, 2, 7), led(1, 2, 7), led(2, 2, 7)})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, 1, 0)}, second_id)}));
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{1});
  EXPECT_EQ(later->partition("orders", 0)->epoch, leader_epoch{0});
  EXPECT_EQ(later->topic("orders")->id, second_id);
  EXPECT_EQ(later->topic("orders")->partitions.size(), 1u);
  EXPECT_EQ(difference(*map, *later),
            (changes{{.kind = kind::topic_recreated, .topic = "orders"}}));
}

TEST(ClusterMap, KeepsTheIdWhenAnOlderBrokerDoesNotTellIt) {
  const auto map = known({orders({led(0, 2, 7)})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, 1, 6)}, topic_id{})}));
  EXPECT_EQ(later->topic("orders")->id, first_id);
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{2});
}

TEST(ClusterMap, LearnsAnIdWithoutCallingTheTopicRecreated) {
  const auto map = known({orders({led(0, 2, 7)}, topic_id{})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, 1, 3)})}));
  EXPECT_EQ(later->topic("orders")->id, first_id);
  EXPECT_EQ(later->partition("orders", 0)->epoch, leader_epoch{3});
  EXPECT_EQ(
      difference(*map, *later),
      (changes{{.kind = kind::leader_changed, .topic = "orders", .partition = 0, .broker = 1}}));
}

TEST(ClusterMap, KeepsTheStateOfATopicThatVanishesForAMoment) {
  const auto map = known({orders({led(0, 2, 7), led(1, 3, 4)})});
  const auto gone = cluster_map::merge(*map, answer({{.name = "orders", .error = unknown_topic}}));
  EXPECT_TRUE(gone->topic("orders")->gone);
  EXPECT_EQ(gone->partition("orders", 0)->epoch, leader_epoch{7});
  EXPECT_EQ(difference(*map, *gone),
            (changes{{.kind = kind::topic_gone, .topic = "orders", .error = unknown_topic}}));

  const auto back = cluster_map::merge(*gone, answer({orders({led(0, 1, 6), led(1, 3, 4)})}));
  EXPECT_FALSE(back->topic("orders")->gone);
  EXPECT_EQ(back->partition("orders", 0)->leader, broker_id{2});
  EXPECT_EQ(difference(*gone, *back), (changes{{.kind = kind::topic_returned, .topic = "orders"}}));
}

TEST(ClusterMap, SeesARecreationBehindAnAbsence) {
  const auto map = known({orders({led(0, 2, 7)})});
  const auto gone = cluster_map::merge(*map, answer({{.name = "orders", .error = unknown_topic}}));
  const auto back = cluster_map::merge(*gone, answer({orders({led(0, 1, 0)}, second_id)}));
  EXPECT_EQ(difference(*gone, *back),
            (changes{{.kind = kind::topic_recreated, .topic = "orders"}}));
}

// Without ids the epochs of a topic that was away may be those of another topic. Held against the
// old ones they would look stale until the end of time.
TEST(ClusterMap, DoesNotHoldOldEpochsAgainstATopicWithoutIdThatWasAway) {
  const auto map = known({orders({led(0, 2, 7)}, topic_id{})});
  const auto gone = cluster_map::merge(*map, answer({{.name = "orders", .error = unknown_topic}}));
  const auto back = cluster_map::merge(*gone, answer({orders({led(0, 2, 0)}, topic_id{})}));
  EXPECT_EQ(back->partition("orders", 0)->epoch, leader_epoch{0});
  EXPECT_EQ(difference(*gone, *back), (changes{{.kind = kind::topic_returned, .topic = "orders"}}));
  const auto moved = cluster_map::merge(*back, answer({orders({led(0, 1, 1)}, topic_id{})}));
  EXPECT_EQ(moved->partition("orders", 0)->leader, broker_id{1});
}

// A topic without an id that was made again begins its epochs anew.

class EpochsThatGoBack : public ::testing::Test {
 protected:
  /// The cluster after another answer of this broker, while the partition is not served.
  void hear(int broker, topic_answer said, std::vector<unled_partition> unled = {{"orders", 0}}) {
    map_ = cluster_map::merge(*map_, answer({std::move(said)}), {broker, unled});
  }
  void hear_old(int broker) { hear(broker, orders({led(0, 3, 0), led(1, 1, 0)}, {})); }
  [[nodiscard]] int leader() const { return map_->partition("orders", 0)->leader.value; }

  cluster_snapshot map_ = known({orders({led(0, 1, 4), led(1, 2, 0)}, {})});
};

TEST_F(EpochsThatGoBack, AreBelievedWhenSeveralBrokersInsist) {
  const cluster_snapshot before = map_;
  for (const int broker : {2, 2, 3, 3}) {
    hear_old(broker);
    EXPECT_EQ(leader(), 1);
  }
  hear_old(1);
  EXPECT_EQ(leader(), 3);
  EXPECT_EQ(map_->partition("orders", 0)->epoch, leader_epoch{0});
  EXPECT_EQ(map_->partition("orders", 1)->leader, broker_id{1}) << "it is another topic";
  EXPECT_EQ(difference(*before, *map_),
            (changes{{.kind = kind::topic_recreated, .topic = "orders"}}));
  const cluster_snapshot again = map_;
  hear_old(1);
  EXPECT_TRUE(difference(*again, *map_).empty());
}

TEST_F(EpochsThatGoBack, AreNotBelievedOfOneBroker) {
  for (int i = 0; i < 50; ++i) {
    hear_old(2);
    hear_old(-1);  // a bootstrap server may be the same broker
    EXPECT_EQ(leader(), 1);
  }
}

TEST_F(EpochsThatGoBack, AreNotBelievedWhileTheLeaderServes) {
  for (int i = 0; i < 50; ++i) {
    hear(i % 3 + 1, orders({led(0, 3, 0), led(1, 1, 0)}, {}), {{"orders", 1}, {"others", 0}});
    EXPECT_EQ(leader(), 1);
  }
}

TEST_F(EpochsThatGoBack, AreForgottenWhenSomebodyKnowsBetter) {
  for (int i = 0; i < 50; ++i) {
    hear_old(i % 2 + 1);
    if (i % 4 == 3) hear(3, orders({led(0, 1, 4), led(1, 2, 0)}, {}));
    EXPECT_EQ(leader(), 1);
  }
}

TEST_F(EpochsThatGoBack, AreBelievedOfTheOnlyBroker) {
  const metadata_answer whole{.brokers = {endpoint(1)}, .topics = {orders({led(0, 1, 4)}, {})}};
  metadata_answer old = whole;
  old.topics = {orders({led(0, 1, 0)}, {})};
  map_ = cluster_map::merge(cluster_map{}, whole);
  const std::vector<unled_partition> unled{{"orders", 0}};
  for (int i = 0; i < 4; ++i) map_ = cluster_map::merge(*map_, old, {broker_id(1), unled});
  EXPECT_EQ(map_->topic("orders")->incarnation, 0U);
  map_ = cluster_map::merge(*map_, old, {broker_id(1), unled});
  EXPECT_EQ(map_->topic("orders")->incarnation, 1U);
}

TEST_F(EpochsThatGoBack, AreNeverBelievedOfATopicWithAnId) {
  map_ = known({orders({led(0, 1, 4)})});
  for (int i = 0; i < 50; ++i) {
    hear(i % 3 + 1, orders({led(0, 3, 0)}, i % 2 == 0 ? topic_id{} : first_id));
    EXPECT_EQ(leader(), 1);
  }
}

TEST(ClusterMap, MarksWhatAnAnswerForAllTopicsLacks) {
  const auto map = known({orders({led(0, 2, 7)}), {.name = "z", .partitions = {led(0, 1, 1)}}});
  metadata_answer partial = answer({{.name = "z", .partitions = {led(0, 1, 1)}}});
  EXPECT_FALSE(cluster_map::merge(*map, partial)->topic("orders")->gone);
  partial.all_topics = true;
  EXPECT_TRUE(cluster_map::merge(*map, partial)->topic("orders")->gone);
}

TEST(ClusterMap, KeepsLeadersWhenTheTopicMayNotBeDescribed) {
  const auto map = known({orders({led(0, 2, 7)})});
  const auto refused = cluster_map::merge(
      *map, answer({{.name = "orders", .error = broker_errc::topic_authorization_failed}}));
  EXPECT_EQ(refused->partition("orders", 0)->leader, broker_id{2});
  EXPECT_FALSE(refused->topic("orders")->gone);
  EXPECT_EQ(difference(*map, *refused),
            (changes{{.kind = kind::topic_error,
                      .topic = "orders",
                      .error = broker_errc::topic_authorization_failed}}));
}

TEST(ClusterMap, NeverLosesPartitionsOfATopic) {
  const auto map = known({orders({led(0, 2, 7), led(1, 3, 4)})});
  const auto later = cluster_map::merge(*map, answer({orders({led(0, 2, 7)})}));
  ASSERT_NE(later->partition("orders", 1), nullptr);
  EXPECT_EQ(later->partition("orders", 1)->leader, broker_id{3});
  EXPECT_TRUE(difference(*map, *later).empty());
}

// Keys must not be placed by a count that nobody said (META-10, META-13).
TEST(ClusterMap, DoesNotBelieveAnAnswerThatLeavesPartitionsOut) {
  for (const auto& partitions :
       {std::vector{led(0, 2, 7), led(2, 3, 7)}, std::vector{led(0, 2, 7), led(0, 3, 9)},
        std::vector{led(2147483647, 1, 1), led(-5, 1, 1), led(0, 2, 7)}}) {
    const auto map = known({orders(partitions)});
    ASSERT_NE(map->topic("orders"), nullptr);
    EXPECT_TRUE(map->topic("orders")->partitions.empty());
    EXPECT_TRUE(map->topic("orders")->incomplete);
    const auto later = cluster_map::merge(*map, answer({orders({led(0, 2, 7), led(1, 3, 4)})}));
    EXPECT_EQ(later->topic("orders")->partitions.size(), 2U);
    EXPECT_FALSE(later->topic("orders")->incomplete);
  }
}

TEST(ClusterMap, TakesTheLeadersButNotTheCountOfAnIncompleteAnswer) {
  const auto map = known({orders({led(0, 2, 7), led(1, 3, 4), led(2, 1, 5)})});
  const auto later =
      cluster_map::merge(*map, answer({orders({led(0, 1, 8), led(2, 2, 6), led(9, 1, 1)})}));
  ASSERT_EQ(later->topic("orders")->partitions.size(), 3U);
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{1});
  EXPECT_EQ(later->partition("orders", 1)->leader, broker_id{3}) << "the last known one stays";
  EXPECT_EQ(later->partition("orders", 2)->leader, broker_id{2});
  EXPECT_TRUE(later->topic("orders")->incomplete);
}

TEST(ClusterMap, DoesNotGoBackToAnIdThatWasReplaced) {
  const auto map = known({orders({led(0, 2, 7)}, first_id)});
  const auto recreated = cluster_map::merge(*map, answer({orders({led(0, 1, 0)}, second_id)}));
  const auto stale = cluster_map::merge(*recreated, answer({orders({led(0, 2, 7)}, first_id)}));
  EXPECT_EQ(stale->topic("orders")->id, second_id);
  EXPECT_EQ(stale->partition("orders", 0)->leader, broker_id{1});
}

TEST(ClusterMap, DoesNotForgetTheClusterOverAnAnswerWithoutBrokers) {
  const auto map = known({orders({led(0, 2, 7)})});
  const auto later = cluster_map::merge(*map, metadata_answer{});
  EXPECT_EQ(later->brokers().size(), 3u);
  EXPECT_EQ(later->cluster_id(), "cluster");
}

TEST(ClusterMap, SharesTheTopicsThatDidNotChange) {
  const auto map = known({orders({led(0, 2, 7)}), {.name = "z", .partitions = {led(0, 1, 1)}}});
  const auto later = cluster_map::merge(
      *map, answer({orders({led(0, 2, 7)}), {.name = "z", .partitions = {led(0, 1, 2)}}}));
  EXPECT_EQ(map->topic("orders"), later->topic("orders"));
  EXPECT_NE(map->topic("z"), later->topic("z"));
}

TEST(LeaderHint, MovesThePartitionToTheNewerLeader) {
  const auto map = known({orders({led(0, 2, 7), led(1, 2, 7)})});
  const leader_hint hint{.topic = "orders", .partition = 1, .leader = 3, .epoch = 8};
  const auto later = cluster_map::apply_hints(map, {&hint, 1}, {});
  EXPECT_EQ(later->partition("orders", 1)->leader, broker_id{3});
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{2});
  EXPECT_EQ(map->partition("orders", 1)->leader, broker_id{2});
  EXPECT_EQ(
      difference(*map, *later),
      (changes{{.kind = kind::leader_changed, .topic = "orders", .partition = 1, .broker = 3}}));
}

TEST(LeaderHint, IsIgnoredUnlessItIsNewerAndOfThisTopic) {
  const auto map = known({orders({led(0, 2, 7)})});
  const leader_hint useless[] = {
      {.topic = "orders", .partition = 0, .leader = 3, .epoch = 6},
      {.topic = "orders", .partition = 0, .leader = 3, .epoch = 7},
      {.topic = "orders", .partition = 0, .leader = 3, .epoch = -1},
      {.topic = "orders", .partition = 0, .leader = -1, .epoch = 9},
      {.topic = "orders", .partition = 1, .leader = 3, .epoch = 9},
      {.topic = "orders", .partition = -1, .leader = 3, .epoch = 9},
      {.topic = "other", .partition = 0, .leader = 3, .epoch = 9},
      {.topic = "orders", .id = second_id, .partition = 0, .leader = 3, .epoch = 9},
      {.topic = "orders", .partition = 0, .leader = 77, .epoch = 9},  // nobody knows where that is
  };
  EXPECT_EQ(cluster_map::apply_hints(map, useless, {}), map);
}

TEST(LeaderHint, BringsTheAddressOfANewBroker) {
  const auto map = known({orders({led(0, 2, 7)})});
  const leader_hint hint{
      .topic = "orders", .id = first_id, .partition = 0, .leader = 9, .epoch = 8};
  const broker_endpoint endpoints[] = {endpoint(8), endpoint(9)};
  const auto later = cluster_map::apply_hints(map, {&hint, 1}, endpoints);
  ASSERT_NE(later->broker(9), nullptr);
  EXPECT_EQ(later->broker(9)->host, "broker-9");
  EXPECT_EQ(later->broker(8), nullptr);

  // A lagging broker answers without the new one: neither the leader nor its address goes back.
  const auto stale = cluster_map::merge(*later, answer({orders({led(0, 2, 7)})}));
  EXPECT_EQ(stale->partition("orders", 0)->leader, broker_id{9});
  ASSERT_NE(stale->broker(9), nullptr);
}

TEST(LeaderHint, TakesTheNewestOfSeveral) {
  const auto map = known({orders({led(0, 2, 7)})});
  const leader_hint hints[] = {{.topic = "orders", .partition = 0, .leader = 3, .epoch = 9},
                               {.topic = "orders", .partition = 0, .leader = 1, .epoch = 8}};
  const auto later = cluster_map::apply_hints(map, hints, {});
  EXPECT_EQ(later->partition("orders", 0)->leader, broker_id{3});
  EXPECT_EQ(later->partition("orders", 0)->epoch, leader_epoch{9});
}

TEST(ClusterDifference, NamesEveryKindOfChange) {
  const auto before = known({orders({led(0, 1, 1), led(1, -1, 1), led(2, 1, 1), led(3, 1, 1)})});
  metadata_answer now = answer({orders({led(0, 2, 2), led(1, 3, 2), led(2, -1, 2), led(3, 1, 2),
                                        led(4, 1, 0), led(5, 1, 0)}),
                                {.name = "new", .partitions = {led(0, 1, 0)}},
                                {.name = "none", .error = unknown_topic}});
  now.brokers = {endpoint(1), {.id = 2, .host = "elsewhere", .port = 9092}, endpoint(4)};
  const auto after = cluster_map::merge(*before, now);
  const changes expected{
      {.kind = kind::broker_moved, .broker = 2},
      {.kind = kind::broker_appeared, .broker = 4},
      {.kind = kind::topic_appeared, .topic = "new"},
      {.kind = kind::topic_gone, .topic = "none", .error = unknown_topic},
      {.kind = kind::leader_changed, .topic = "orders", .partition = 0, .broker = 2},
      {.kind = kind::leader_appeared, .topic = "orders", .partition = 1, .broker = 3},
      {.kind = kind::leader_vanished, .topic = "orders", .partition = 2, .broker = -1},
      {.kind = kind::leader_epoch_raised, .topic = "orders", .partition = 3, .broker = 1},
      {.kind = kind::partitions_added, .topic = "orders", .partition = 4},
  };
  // Broker 3 is not listed any more, but it leads partition 1, so its address is kept.
  EXPECT_EQ(difference(*before, *after), expected);
  EXPECT_TRUE(difference(*after, *after).empty());
}

TEST(ClusterDifference, ReportsABrokerThatLeadsNothingAndIsNotListedAsVanished) {
  const auto before = known({orders({led(0, 1, 1)})});
  metadata_answer now = answer({orders({led(0, 1, 1)})});
  now.brokers.pop_back();
  EXPECT_EQ(difference(*before, *cluster_map::merge(*before, now)),
            (changes{{.kind = kind::broker_vanished, .broker = 3}}));
}

TEST(ClusterDifference, ReportsPartitionsThatComeAfterTheirTopic) {
  const auto before = known({{.name = "orders", .error = unknown_topic}});
  const auto after = cluster_map::merge(*before, answer({orders({led(0, 1, 0)})}));
  EXPECT_EQ(difference(*before, *after),
            (changes{{.kind = kind::topic_appeared, .topic = "orders"}}));
}

/// What somebody who only listens to changes knows.
struct listener {
  std::map<std::string, std::vector<std::pair<broker_id, leader_epoch>>> leaders;
  std::map<std::string, bool> gone;

  void hear(const cluster_change& change, const cluster_map& now) {
    switch (change.kind) {
      case kind::topic_appeared:
      case kind::topic_recreated:
        leaders[change.topic].clear();
        gone[change.topic] = false;
        read(change.topic, 0, now);
        break;
      case kind::partitions_added:
        read(change.topic, change.partition.value, now);
        break;
      case kind::leader_appeared:
      case kind::leader_changed:
      case kind::leader_epoch_raised:
      case kind::leader_vanished: {
        const partition_facts* facts = now.partition(change.topic, change.partition);
        leaders[change.topic].at(static_cast<std::size_t>(change.partition.value)) = {change.broker,
                                                                                      facts->epoch};
        break;
      }
      case kind::topic_gone:
        gone[change.topic] = true;
        break;
      case kind::topic_returned:
        gone[change.topic] = false;
        break;
      default:
        break;
    }
  }

  void read(const std::string& topic, std::int32_t from, const cluster_map& now) {
    auto& known_leaders = leaders[topic];
    ASSERT_EQ(known_leaders.size(), static_cast<std::size_t>(from));
    const auto& partitions = now.topic(topic)->partitions;
    for (auto at = static_cast<std::size_t>(from); at < partitions.size(); ++at)
      known_leaders.emplace_back(partitions[at].leader, partitions[at].epoch);
  }
};

/// A cluster that changes by chance and whose brokers answer with what was true some time ago.
class lagging_cluster {
 public:
  explicit lagging_cluster(std::uint32_t seed) : random_(seed) { history_.push_back(now_); }

  void live() {
    for (int topic = 0; topic < 3; ++topic) {
      auto& partitions = now_[topic_name(topic)];
      if (partitions.empty() || chance(20) == 0) partitions.push_back({1 + chance(4), 0});
      for (auto& [leader, epoch] : partitions) {
        if (chance(4) != 0) continue;
        ++epoch.value;
        leader = chance(5) == 0 ? -1 : 1 + chance(4);
      }
    }
    history_.push_back(now_);
  }

  metadata_answer some_answer() {
    const truth& then =
        history_[history_.size() - 1 -
                 static_cast<std::size_t>(
                     chance(static_cast<std::int32_t>(std::min<std::size_t>(history_.size(), 6))))];
    metadata_answer made = answer({});
    made.brokers.push_back(endpoint(4));
    for (const auto& [name, partitions] : then) {
      topic_answer topic{.name = name, .id = {9, static_cast<std::uint64_t>(name.back())}};
      if (chance(15) == 0) {
        topic.error = unknown_topic;
      } else {
        for (std::size_t at = 0; at < partitions.size(); ++at) {
          const auto& [leader, epoch] = partitions[at];
          topic.partitions.push_back(led(static_cast<int>(at), leader.value, epoch.value));
          note(name, at, leader, epoch);
        }
      }
      made.topics.push_back(std::move(topic));
    }
    return made;
  }

  leader_hint some_hint() {
    const std::string& name = names_[static_cast<std::size_t>(chance(3))];
    const auto& partitions = now_[name];
    if (partitions.empty()) return {.topic = name};
    const auto at = static_cast<std::size_t>(chance(static_cast<std::int32_t>(partitions.size())));
    const auto& [leader, epoch] = partitions[at];
    const auto seen = newest_[name].find(at);
    if (seen != newest_[name].end() && leader.known()) note(name, at, leader, epoch);
    return {.topic = name,
            .partition = static_cast<std::int32_t>(at),
            .leader = leader,
            .epoch = epoch};
  }

  /// The newest epoch that was ever said of each partition, and its leader.
  std::map<std::string, std::map<std::size_t, std::pair<broker_id, leader_epoch>>> newest_;

 private:
  using truth = std::map<std::string, std::vector<std::pair<broker_id, leader_epoch>>>;

  std::int32_t chance(std::int32_t below) {
    return static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(below));
  }
  const std::string& topic_name(int at) const { return names_[static_cast<std::size_t>(at)]; }
  void note(const std::string& name, std::size_t at, broker_id leader, leader_epoch epoch) {
    auto& newest = newest_[name][at];
    if (epoch >= newest.second) newest = {leader, epoch};
  }

  const std::vector<std::string> names_{"topic-a", "topic-b", "topic-c"};
  std::mt19937 random_;
  truth now_;
  std::vector<truth> history_;
};

TEST(ClusterMap, EndsWithTheNewestEpochHoweverOldTheAnswersAre) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    lagging_cluster cluster(seed);
    cluster_snapshot map = std::make_shared<cluster_map>();
    listener heard;
    for (int step = 0; step < 100; ++step) {
      cluster.live();
      cluster_snapshot next;
      if (step % 3 == 2) {
        const leader_hint hint = cluster.some_hint();
        next = cluster_map::apply_hints(map, {&hint, 1}, {});
      } else {
        next = cluster_map::merge(*map, cluster.some_answer());
      }
      for (const cluster_change& change : difference(*map, *next)) heard.hear(change, *next);
      map = next;

      for (const auto& [name, partitions] : cluster.newest_)
        for (const auto& [at, newest] : partitions) {
          const partition_facts* facts = map->partition(name, static_cast<std::int32_t>(at));
          ASSERT_NE(facts, nullptr);
          ASSERT_EQ(facts->epoch, newest.second) << "seed " << seed << ", step " << step;
          ASSERT_EQ(facts->leader, newest.first) << "seed " << seed << ", step " << step;
        }
      for (const auto& topic : map->topics()) {
        ASSERT_EQ(heard.gone[topic->name], topic->gone) << "seed " << seed << ", step " << step;
        const auto& leaders = heard.leaders[topic->name];
        ASSERT_EQ(leaders.size(), topic->partitions.size());
        for (std::size_t at = 0; at < leaders.size(); ++at) {
          const partition_facts& facts = topic->partitions[at];
          ASSERT_EQ(leaders[at].first, facts.leader) << "seed " << seed << ", step " << step;
          // The epoch of a partition without a leader concerns nobody.
          if (!facts.leader.known()) continue;
          ASSERT_EQ(leaders[at].second, facts.epoch) << "seed " << seed << ", step " << step;
        }
      }
    }
  }
}

}  // namespace
}  // namespace partita::actors
