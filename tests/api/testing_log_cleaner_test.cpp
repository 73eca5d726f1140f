// Compaction in the simulated cluster, against what Kafka's log cleaner does.
#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;
using offsets = std::vector<std::int64_t>;

struct keyed {
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::int64_t time_ms = 1'000;
};

class LogCleaner : public ::testing::Test {
 protected:
  static simulation_options world() {
    simulation_options setup;
    setup.cluster.brokers = 3;
    setup.cluster.topics["t"].partitions = 1;
    return setup;
  }
  std::unique_ptr<producer> make(std::uint64_t seed, compression codec = compression::none) {
    producer_config config;
    config.linger = 1s;  // flush() ends a batch
    config.compression = codec;
    config.bootstrap_servers = world_.bootstrap();
    return make_producer(world_, config, {1, seed});
  }
  /// One batch.
  void append(producer& by, const std::vector<keyed>& records) {
    for (const keyed& each : records) {
      record one;
      one.topic = "t";
      one.partition = 0;
      if (each.key) one.key = *each.key;
      if (each.value) one.value = *each.value;
      one.timestamp = timestamp{std::chrono::milliseconds{each.time_ms}};
      by.produce(one, [](const outcome& answer) { EXPECT_TRUE(answer.is_delivered()); });
    }
    const tally told = wait_for(world_, by.flush());
    ASSERT_EQ(told.delivered, records.size());
  }
  static offsets offsets_of(const std::vector<log_record>& records) {
    offsets all;
    for (const log_record& each : records) all.push_back(each.offset.value);
    return all;
  }
  offsets log() { return offsets_of(world_.cluster().log("t", 0)); }
  offsets compact(std::optional<offset> before = {}) {
    return offsets_of(world_.cluster().compact("t", 0, before));
  }

  simulation world_{world()};
  std::unique_ptr<producer> one_ = make(1);
  std::unique_ptr<producer> two_ = make(2);
};

TEST_F(LogCleaner, LeavesTheLastRecordOfAKeyAtItsOffset) {
  append(*one_, {{"a", "1"}, {"b", "1"}, {{}, "none"}});
  append(*one_, {{"a", "2"}, {"c", {}}});
  append(*one_, {{"b", "2"}});
  append(*one_, {{"a", "3"}});
  EXPECT_EQ(compact(), (offsets{0, 1, 2}));
  EXPECT_EQ(log(), (offsets{3, 4, 5, 6})) << "the newest batch stays, and does not count";
  EXPECT_EQ(world_.cluster().log("t", 0).at(1).value, std::nullopt) << "a tombstone stays";
  EXPECT_EQ(compact(), offsets{}) << "there is nothing more";
  append(*one_, {{"z", "1"}});
  EXPECT_EQ(compact(), offsets{3});
  EXPECT_EQ(log(), (offsets{4, 5, 6, 7}));
  EXPECT_EQ(world_.cluster().view("t", 0)->log_end, offset{8});
}

TEST_F(LogCleaner, CleansUpToAPoint) {
  append(*one_, {{"a", "1"}});
  append(*one_, {{"a", "2"}});
  append(*one_, {{"a", "3"}});
  append(*one_, {{"a", "4"}});
  EXPECT_EQ(compact(1), offsets{});
  EXPECT_EQ(compact(2), offsets{0});
  EXPECT_EQ(log(), (offsets{1, 2, 3}));
}

TEST_F(LogCleaner, AThinnedBatchKeepsItsRangeAndItsTuple) {
  for (const compression codec : {compression::none, compression::lz4, compression::zstd}) {
    const auto own = make(10 + static_cast<std::uint64_t>(codec), codec);
    const auto before = world_.cluster().view("t", 0)->log_end.value;
    append(*own, {{"a", "1", 9'000}, {"b", "1", 2'000}, {"c", "1", 3'000}, {"a", "2", 1'000}});
    append(*own, {{"c", "2"}});
    append(*own, {{"x", "x"}});
    const auto find = [&] {
      for (const log_batch& each : world_.cluster().batches("t", 0))
        if (each.base_offset.value == before) return each;
      return log_batch{};
    };
    const log_batch whole = find();
    EXPECT_EQ(whole.record_count, 4);
    EXPECT_EQ(whole.max_timestamp_ms, 9'000);
    compact();
    const log_batch thin = find();
    EXPECT_EQ(thin.record_count, 2);
    EXPECT_EQ(thin.max_timestamp_ms, 2'000) << "made anew";
    EXPECT_EQ(thin.producer_id, whole.producer_id);
    EXPECT_EQ(thin.producer_epoch, whole.producer_epoch);
    EXPECT_EQ(thin.base_sequence, whole.base_sequence);
    EXPECT_NE(thin.checksum, whole.checksum);
    std::vector<log_record> left;
    for (const log_record& each : world_.cluster().log("t", 0))
      if (each.producer_id == whole.producer_id) left.push_back(each);
    ASSERT_EQ(left.size(), 4U);
    EXPECT_EQ(left[0].offset, offset{before + 1});
    EXPECT_EQ(left[0].sequence, sequence{1});
    EXPECT_EQ(left[0].value, "1");
    EXPECT_EQ(left[0].timestamp, timestamp{2s});
    EXPECT_EQ(left[1].offset, offset{before + 3});
    EXPECT_EQ(left[1].timestamp, timestamp{1s});
    EXPECT_EQ(left[2].offset, offset{before + 4});
  }
}

// Its number must be known to who reads the log anew; nothing else of it is left.
TEST_F(LogCleaner, TheNewestBatchOfAProducerStaysAsAnEmptyOne) {
  append(*one_, {{"a", "1"}});
  append(*one_, {{"a", "2"}, {"b", "1"}});
  append(*two_, {{"a", "3"}, {"b", "2"}});
  append(*two_, {{"x", "1"}});
  EXPECT_EQ(compact(), (offsets{0, 1, 2}));
  const auto batches = world_.cluster().batches("t", 0);
  ASSERT_EQ(batches.size(), 3U) << "the first one is gone";
  EXPECT_EQ(batches[0].record_count, 0);
  EXPECT_EQ(batches[0].base_offset, offset{1});
  EXPECT_EQ(batches[0].base_sequence, sequence{1});
  EXPECT_EQ(batches[0].max_timestamp_ms, 1'000);
  EXPECT_EQ(log(), (offsets{3, 4, 5}));

  // The next batch goes on behind it: brokers have forgotten nothing.
  append(*one_, {{"y", "1"}});
  EXPECT_EQ(world_.cluster().batches("t", 0).back().base_sequence, sequence{3});
  append(*two_, {{"y", "2"}});
  compact();
  EXPECT_EQ(log(), (offsets{3, 4, 5, 6, 7})) << "y's first record is the last below the newest";
}

TEST_F(LogCleaner, AnotherReplicaThatLeadsHasTheSameLog) {
  append(*one_, {{"a", "1"}, {"b", "1"}});
  append(*one_, {{"a", "2"}});
  append(*one_, {{"a", "3"}});
  append(*one_, {{"c", "1"}});
  ASSERT_EQ(compact(), (offsets{0, 2}));
  const auto before = world_.cluster().view("t", 0);
  for (const std::int32_t broker : before->replicas) {
    world_.cluster().move_leader("t", 0, broker);
    world_.time().run_for(1s);
    EXPECT_EQ(log(), (offsets{1, 3, 4}));
    EXPECT_EQ(world_.cluster().view("t", 0)->high_watermark, offset{5});
    EXPECT_EQ(world_.cluster().view("t", 0)->in_sync.size(), 3U);
  }
  append(*one_, {{"d", "1"}});
  EXPECT_EQ(log(), (offsets{1, 3, 4, 5}));
}

// A replica that was away has what the others do not have any more, and begins behind the gap.
TEST_F(LogCleaner, AReplicaThatWasAwayCatchesUpOverTheGap) {
  append(*one_, {{"a", "1"}, {"b", "1"}});
  const auto leader = world_.cluster().view("t", 0)->leader;
  const broker_id away{leader.value % 3 + 1};
  world_.cluster().stop_broker(away);
  append(*one_, {{"a", "2"}});
  append(*one_, {{"a", "3"}});
  append(*one_, {{"c", "1"}});
  ASSERT_EQ(compact(), (offsets{0, 2}));
  world_.cluster().start_broker(away);
  world_.time().run_for(1s);
  ASSERT_TRUE(world_.cluster().move_leader("t", 0, away));
  EXPECT_EQ(log(), (offsets{0, 1, 3, 4}));
  EXPECT_EQ(world_.cluster().view("t", 0)->high_watermark, offset{5});
  EXPECT_EQ(compact(), offsets{0});
  append(*one_, {{"d", "1"}});
  EXPECT_EQ(log(), (offsets{1, 3, 4, 5}));
}

TEST_F(LogCleaner, TakesNothingThatCanBeUndone) {
  append(*one_, {{"a", "1"}});
  append(*one_, {{"b", "1"}});
  world_.cluster().hold_replication("t", 0, true);
  for (const char* value : {"2", "3"})
    one_->produce({.topic = "t", .key = "a", .value = value, .partition = 0},
                  [](const outcome&) {});
  world_.time().run_for(2s);
  ASSERT_EQ(world_.cluster().view("t", 0)->log_end, offset{4});
  EXPECT_EQ(compact(), offsets{}) << "what took a's place is not committed";
  EXPECT_EQ(world_.cluster().compact("u", 0).size(), 0U);
  world_.cluster().hold_replication("t", 0, false);
}

// To it the newest batch of the others is not its own newest one.
TEST_F(LogCleaner, AReplicaWithATailThatItIsGoingToLoseKeepsWhatTheOthersKeep) {
  append(*one_, {{"a", "1"}});
  append(*one_, {{{}, "newest"}});
  const auto view = world_.cluster().view("t", 0);
  const broker_id old = view->leader;
  const broker_id next{old.value % 3 + 1};
  world_.cluster().hold_replication("t", 0, true);
  one_->produce({.topic = "t", .key = "b", .value = "1", .partition = 0}, [](const outcome&) {});
  world_.time().run_for(2s);
  ASSERT_EQ(world_.cluster().view("t", 0)->log_end, offset{3});
  world_.cluster().pause_broker(old);
  ASSERT_TRUE(world_.cluster().move_leader("t", 0, next, tail::lost));
  world_.cluster().hold_replication("t", 0, false);
  ASSERT_EQ(log(), (offsets{0, 1}));
  EXPECT_EQ(compact(), offsets{});
  world_.cluster().resume_broker(old);
  world_.time().run_for(2s);
  ASSERT_TRUE(world_.cluster().move_leader("t", 0, old));
  const offsets led = log();
  ASSERT_GE(led.size(), 2U);
  EXPECT_EQ(led[1], 1);
}

}  // namespace
}  // namespace partita::testing
