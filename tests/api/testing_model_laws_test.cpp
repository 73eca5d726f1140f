// Laws of the model that no probe can see from outside: when producer state changes, and who
// checks.
#include "testing_talker.hpp"

#include "api/testing/control_batch.hpp"

#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// Everything that a replica remembers of its producers, comparable.
using remembered =
    std::map<std::int64_t, std::tuple<std::int16_t, std::int64_t, std::int64_t,
                                      std::vector<std::pair<std::int32_t, std::int64_t>>>>;

remembered memory_of(const partition_log& log) {
  remembered made;
  for (const auto& [id, entry] : log.producers().producers()) {
    std::vector<std::pair<std::int32_t, std::int64_t>> window;
    for (const auto& batch : entry.window)
      window.emplace_back(batch.last_sequence, batch.last_offset);
    made[id] = {entry.epoch, entry.last_timestamp_ms, entry.transaction_start, std::move(window)};
  }
  return made;
}

TEST(ModelLaws, NoRefusalOfAnyKindChangesProducerState) {  // KAFKA-6683
  small_cluster cluster;
  talker client{cluster.core, 1};
  for (std::int32_t sequence = 0; sequence < 3; ++sequence) {
    client.produce(next_batch(sequence, 2));
    EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  }
  const auto before = memory_of(cluster.partition().log());
  auto damaged = next_batch(3, 2);
  damaged.spoil_checksum = 1;
  auto stranger = next_batch(0, 0);
  stranger.producer_id = 99;
  stranger.spoil_checksum = 1;
  auto too_new = next_batch(3, 2);
  too_new.timestamp = cluster.time.wall_ms + 7'200'000;
  auto too_large = next_batch(3, 2);
  too_large.values = {std::string(1'100'000, 'x')};
  struct refused {
    batch_spec batch;
    broker_errc code;
  };
  const std::vector<refused> all = {
      {next_batch(4, 2), broker_errc::out_of_order_sequence_number},
      {next_batch(3, 1), broker_errc::invalid_producer_epoch},
      {next_batch(3, 3), broker_errc::out_of_order_sequence_number},
      {damaged, broker_errc::corrupt_message},
      {stranger, broker_errc::corrupt_message},
      {too_new, broker_errc::invalid_timestamp},
      {too_large, broker_errc::message_too_large},
  };
  for (const auto& [batch, code] : all) {
    client.produce(batch);
    EXPECT_EQ(client.take_produced().error_code, code);
    EXPECT_EQ(memory_of(cluster.partition().log()), before);
  }
  cluster.core.state().alter_topic("t", "min.insync.replicas", "3");
  cluster.core.state().limit_in_sync("t", 0, 2);
  client.produce(next_batch(3, 2));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::not_enough_replicas);
  EXPECT_EQ(memory_of(cluster.partition().log()), before);
}

TEST(ModelLaws, ADuplicateDoesNotMoveTheWindow) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  for (std::int32_t sequence = 0; sequence < 6; ++sequence) {
    client.produce(next_batch(sequence));
    client.take_produced();
  }
  const auto before = memory_of(cluster.partition().log());
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().base_offset, offset{1});
  EXPECT_EQ(memory_of(cluster.partition().log()), before);
}

TEST(ModelLaws, FollowersTakeAnySequenceFromTheirLeader) {  // KAFKA-6003
  small_cluster cluster;
  talker client{cluster.core, 1};
  for (std::int32_t sequence = 0; sequence < 6; ++sequence) {
    client.produce(next_batch(sequence));
    client.take_produced();
  }
  EXPECT_EQ(cluster.partition().delete_before(4), broker_errc::none);
  // A replica that begins anew sees sequence 4 first, of a producer that it does not know.
  cluster.core.state().assign("t", 0, {1});
  cluster.core.state().assign("t", 0, {1, 3});
  const auto* joined = cluster.partition().find(3);
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(joined->log.start(), 4);
  EXPECT_EQ(joined->log.end(), 6);
  ASSERT_NE(joined->log.producers().find(7), nullptr);
  EXPECT_EQ(joined->log.producers().find(7)->window.size(), 2U);  // what it has seen itself
  cluster.partition().lead(3);
  talker other{cluster.core, 3};
  other.produce(next_batch(6));
  EXPECT_EQ(other.take_produced().base_offset, offset{6});
  other.produce(next_batch(8));
  EXPECT_EQ(other.take_produced().error_code, broker_errc::out_of_order_sequence_number);
}

TEST(ModelLaws, AForgottenProducerOnAFollowerIsStillReplicated) {  // KAFKA-6003
  small_cluster cluster;
  talker client{cluster.core, 1};
  client.produce(next_batch(0));
  client.take_produced();
  cluster.hold(true);
  client.produce(next_batch(1), 1);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  cluster.partition().forget_producers();
  cluster.hold(false);
  EXPECT_EQ(cluster.partition().find(2)->log.end(), 2);
  EXPECT_EQ(cluster.partition().high_watermark(), 2);
}

TEST(ModelLaws, RetentionKeepsTheProducerKnown) {  // KIP-360, KAFKA-8335
  small_cluster cluster;
  talker client{cluster.core, 1};
  client.produce(next_batch(0));
  client.take_produced();
  auto other = next_batch(0);
  other.producer_id = 8;
  client.produce(other);
  client.take_produced();
  cluster.partition().retain(1);  // only the other producer's batch is left
  ASSERT_EQ(cluster.partition().log().start(), 1);
  client.produce(next_batch(2));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::out_of_order_sequence_number);
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
}

TEST(ModelLaws, AnOpenTransactionIsNotForgottenAndAMarkerCountsAsActivity) {  // KAFKA-9144
  small_cluster cluster;
  auto& partition = cluster.partition();
  auto batch = next_batch(0);
  batch.attributes = attribute_transactional;
  batch.timestamp = 0;
  const auto bytes = make_batch(batch);
  EXPECT_EQ(partition.append({bytes, 1, cluster.time.wall_ms}, {}).code, broker_errc::none);
  partition.replicate({});
  EXPECT_EQ(partition.high_watermark(), 1);
  const std::int64_t much_later = 10 * 86'400'000;
  partition.expire_producers(much_later, 86'400'000);
  ASSERT_NE(partition.log().producers().find(7), nullptr);
  EXPECT_EQ(partition.last_stable_offset(), 0);
  partition.end_transaction(7, 0, true, much_later);
  partition.expire_producers(much_later + 1000, 86'400'000);
  ASSERT_NE(partition.log().producers().find(7), nullptr);
  EXPECT_EQ(partition.log().producers().find(7)->window.back().last_sequence, 0);
  partition.expire_producers(much_later + 86'400'000, 86'400'000);
  EXPECT_EQ(partition.log().producers().find(7), nullptr);
}

TEST(ModelLaws, MarkersSayWhatTheyDo) {
  const auto commit = make_marker(7, 3, true, 1000);
  const auto abort = make_marker(7, 3, false, 1000);
  EXPECT_TRUE(commits(commit));
  EXPECT_FALSE(commits(abort));
  const auto header = read_batch_header(commit);
  EXPECT_TRUE(header.control());
  EXPECT_TRUE(header.transactional());
  EXPECT_EQ(header.producer_epoch, 3);
  EXPECT_EQ(header.checksum, batch_checksum(commit));
  const auto records = unpack(commit, header);
  ASSERT_EQ(records.records.size(), 1U);
  EXPECT_EQ(records.records[0].key->size(), 4U);
}

// Whatever happened: what a replica remembers is what its log says, and it is the same everywhere.
TEST(ModelLaws, MemoryIsAFunctionOfTheLog) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    small_cluster cluster;
    seeded_draws draws{seed};
    std::map<std::int64_t, std::pair<std::int16_t, std::int32_t>> next;
    for (int step = 0; step < 60; ++step) {
      auto& partition = cluster.partition();
      const auto leader = partition.leader();
      talker client{cluster.core, leader};
      auto batch = next_batch(0);
      batch.producer_id = 7 + static_cast<std::int64_t>(draws.below(3));
      auto& [epoch, sequence] = next[batch.producer_id];
      if (draws.chance(0.1)) ++epoch, sequence = 0;
      batch.epoch = epoch;
      batch.sequence =
          sequence + (draws.chance(0.2) ? 1 - static_cast<std::int32_t>(draws.below(3)) : 0);
      if (batch.sequence < 0) batch.sequence = 0;
      if (draws.chance(0.3)) batch.values = {"a", "b"};
      client.produce(batch, 1);
      const auto answer = client.take_produced();
      if (answer.error_code == broker_errc::none && batch.sequence == sequence)
        sequence += static_cast<std::int32_t>(batch.values.size());
      if (draws.chance(0.1)) partition.lead(1 + (leader % 3));
      if (draws.chance(0.05))
        partition.roll_back(static_cast<std::int64_t>(
            draws.below(static_cast<std::uint64_t>(partition.log().end()) + 1)));
      cluster.core.state().replicate();
      partition_log replayed;
      for (const auto& stored : partition.log().batches()) replayed.append(stored);
      ASSERT_EQ(memory_of(replayed), memory_of(partition.log())) << "seed " << seed;
      for (const auto& one : partition.replicas())
        ASSERT_EQ(memory_of(one.log), memory_of(partition.log())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace partita::testing
