// The fault matrix of produce attempts, and replicas that do not do what they should.
#include "testing_talker.hpp"

#include "wire/messages/metadata.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

TEST(AttemptFaults, AHeldBatchIsExecutedWhenReleasedAlthoughItsConnectionIsGone) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault late;
  late.cut_first = true;
  late.held = true;
  cluster.core.faults().add(late);
  client.produce(next_batch(0));
  EXPECT_EQ(client.ended(), "reset");
  EXPECT_EQ(cluster.core.held(), 1U);
  EXPECT_EQ(cluster.partition().log().end(), 0);
  cluster.core.release_held("other", 0);
  EXPECT_EQ(cluster.partition().log().end(), 0);
  cluster.core.release_held("t", 0);
  EXPECT_EQ(cluster.partition().log().end(), 1);
  EXPECT_EQ(cluster.core.held(), 0U);
}

TEST(AttemptFaults, AFaultCanNameARecord) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault refuse;
  refuse.value = "A";
  refuse.skip_first = 1;
  refuse.execution = execution::skip;
  refuse.reply = reply::error;
  refuse.code = broker_errc::not_enough_replicas;
  cluster.core.faults().add(refuse);
  auto a = next_batch(0);
  a.values = {"x", "A"};
  auto b = next_batch(2);
  b.values = {"B"};
  client.produce(a);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  client.produce(b);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  client.produce(a);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::not_enough_replicas);
}

// One fault decides whether a request is answered. Another one's partition was skipped, and must
// not look written.
TEST(AttemptFaults, ABatchThatWasToGoUnansweredIsNoSuccessInAnotherOnesAnswer) {
  auto options = small_cluster::options();
  options.topics["t"] = {.partitions = 2, .replicas = {{1, 2, 3}, {1, 2, 3}}};
  small_cluster cluster(options);
  talker client{cluster.core, 1};
  fault refuse;
  refuse.partition = 0;
  refuse.execution = execution::skip;
  refuse.reply = reply::error;
  refuse.code = broker_errc::not_enough_replicas;
  fault drop;
  drop.partition = 1;
  drop.execution = execution::skip;
  drop.reply = reply::close_before;
  cluster.core.faults().add(refuse);
  cluster.core.faults().add(drop);
  const auto bytes = make_batch(next_batch(0));
  wire::produce_request request;
  request.acks = -1;
  request.timeout_ms = 1000;
  request.topics.push_back({"t", {}, {{0, byte_view{bytes}}, {1, byte_view{bytes}}}});
  client.ask(request, 11);
  const auto answer = client.take<wire::produce_response>(11);
  ASSERT_EQ(answer.topics.size(), 1U);
  ASSERT_EQ(answer.topics.front().partitions.size(), 2U);
  EXPECT_EQ(answer.topics.front().partitions[0].error_code, broker_errc::not_enough_replicas);
  EXPECT_NE(answer.topics.front().partitions[1].error_code, broker_errc::none);
  EXPECT_EQ(cluster.partition(1).log().end(), 0);
}

// Nor where its topic is gone when the request is executed.
TEST(AttemptFaults, ABatchThatWasToGoUnansweredIsNoSuccessInATopicThatIsGone) {
  auto options = small_cluster::options();
  options.topics["u"] = options.topics["t"];
  small_cluster cluster(options);
  talker client{cluster.core, 1};
  fault slow;
  slow.topic = "u";
  slow.execute_after = 50ms;
  fault drop;
  drop.topic = "t";
  drop.execution = execution::skip;
  drop.reply = reply::close_before;
  cluster.core.faults().add(slow);
  cluster.core.faults().add(drop);
  const auto bytes = make_batch(next_batch(0));
  wire::produce_request request;
  request.acks = 1;
  request.topics.push_back({"u", {}, {{0, byte_view{bytes}}}});
  request.topics.push_back({"t", {}, {{0, byte_view{bytes}}}});
  client.ask(request, 11);
  cluster.core.state().delete_topic("t");
  cluster.pass(50ms);
  const auto answer = client.take<wire::produce_response>(11);
  ASSERT_EQ(answer.topics.size(), 2U);
  EXPECT_NE(answer.topics[1].partitions.at(0).error_code, broker_errc::none);
}

// Nor is one that is not committed, whatever its own fault would have shown.
TEST(AttemptFaults, ABatchThatWasToGoUnansweredIsCommittedBeforeAnotherOnesAnswer) {
  auto options = small_cluster::options();
  options.topics["t"] = {.partitions = 2, .replicas = {{1, 2, 3}, {1, 2, 3}}};
  small_cluster cluster(options);
  talker client{cluster.core, 1};
  fault refuse;
  refuse.partition = 1;
  refuse.execution = execution::skip;
  refuse.reply = reply::error;
  refuse.code = broker_errc::not_enough_replicas;
  fault drop;
  drop.partition = 0;
  drop.reply = reply::close_before;
  cluster.core.faults().add(refuse);
  cluster.core.faults().add(drop);
  cluster.hold(true);
  const auto bytes = make_batch(next_batch(0));
  wire::produce_request request;
  request.acks = -1;
  request.timeout_ms = 1000;
  request.topics.push_back({"t", {}, {{1, byte_view{bytes}}, {0, byte_view{bytes}}}});
  client.ask(request, 11);
  EXPECT_EQ(client.answers(), 0U);
  cluster.hold(false);
  const auto answer = client.take<wire::produce_response>(11);
  ASSERT_EQ(answer.topics.size(), 1U);
  ASSERT_EQ(answer.topics.front().partitions.size(), 2U);
  EXPECT_EQ(answer.topics.front().partitions[1].error_code, broker_errc::none);
}

TEST(AttemptFaults, ASuccessCanLieAboutItsOffset) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault lie;
  lie.base_offset = offset{99};
  cluster.core.faults().add(lie);
  client.produce(next_batch(0));
  const auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::none);
  EXPECT_EQ(answer.base_offset, offset{99});
  EXPECT_EQ(cluster.partition().log().end(), 1);
}

TEST(AttemptFaults, AnAnswerIsTruncatedAtEveryByteUnderATrueLength) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  client.produce(next_batch(0));
  const auto body = client.raw().size() - 8;
  client.take_produced();
  for (std::size_t left = 0; left < body; ++left) {
    fault cut;
    cut.reply = reply::truncated;
    cut.cut_at = left;
    cluster.core.faults().add(cut);
    client.produce(next_batch(static_cast<std::int32_t>(left) + 1));
    talker::frame taken = client.take_frame();
    ASSERT_EQ(taken.size(), left + 8);
    EXPECT_EQ(std::to_integer<std::size_t>(taken[3]), left + 4);
  }
}

TEST(ReplicaFaults, ShrunkInSyncReplicasGive19AndGrowAgain) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.state().alter_topic("t", "min.insync.replicas", "2");
  cluster.core.state().limit_in_sync("t", 0, 1);
  EXPECT_EQ(cluster.partition().in_sync(), std::vector<std::int32_t>{1});
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::not_enough_replicas);
  cluster.core.state().limit_in_sync("t", 0, 2);
  cluster.core.state().replicate();
  EXPECT_EQ(cluster.partition().in_sync().size(), 2U);
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
}

TEST(ReplicaFaults, AZombieTakesWhatNobodyElseWillHave) {
  small_cluster cluster;
  talker old_leader{cluster.core, 1};
  talker waiting{cluster.core, 1};
  old_leader.produce(next_batch(0));
  EXPECT_EQ(old_leader.take_produced().error_code, broker_errc::none);
  cluster.core.state().isolate_broker(1);
  EXPECT_EQ(cluster.partition().leader(), 2);

  // It believes that it leads, says so, and takes batches of its own epoch.
  wire::metadata_request request;
  old_leader.ask(request, 12);
  const auto told = old_leader.take<wire::metadata_response>(12);
  EXPECT_EQ(told.topics.front().partitions.front().leader, broker_id{1});
  EXPECT_EQ(told.topics.front().partitions.front().leader_epoch, leader_epoch{0});
  old_leader.produce(next_batch(1), 1);
  EXPECT_EQ(old_leader.take_produced().base_offset, offset{1});
  waiting.produce(next_batch(2), -1, 0, 60'000);
  EXPECT_EQ(waiting.answers(), 0U);
  EXPECT_EQ(cluster.partition().log().end(), 1);  // of the true leader

  // The true leader has another batch at that offset.
  talker new_leader{cluster.core, 2};
  new_leader.produce(next_batch(1));
  EXPECT_EQ(new_leader.take_produced().base_offset, offset{1});

  cluster.core.state().rejoin_broker(1);
  cluster.core.state().replicate();
  cluster.core.settle_waiting();
  const auto answer = waiting.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::not_leader_or_follower);
  EXPECT_EQ(answer.base_offset, offset{2});  // appended there, and gone
  EXPECT_EQ(cluster.partition().find(1)->log.end(), 2);
  EXPECT_EQ(cluster.partition().find(1)->log.batches().back(),
            cluster.partition().find(2)->log.batches().back());
}

TEST(ReplicaFaults, AnUncleanElectionLosesCommittedRecords) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.state().limit_in_sync("t", 0, 2);  // broker 3 is left behind
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  EXPECT_EQ(cluster.partition().high_watermark(), 1);
  cluster.core.state().alter_topic("t", "unclean.leader.election.enable", "true");
  cluster.core.stop_broker(2, stop_kind::kill);
  cluster.core.stop_broker(1, stop_kind::kill);
  EXPECT_EQ(cluster.partition().leader(), 3);
  EXPECT_EQ(cluster.partition().high_watermark(), 0);
  EXPECT_EQ(cluster.partition().in_sync(), std::vector<std::int32_t>{3});
}

TEST(ReplicaFaults, ARollBackTakesProducerStateWithIt) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  for (std::int32_t sequence = 0; sequence < 3; ++sequence) {
    client.produce(next_batch(sequence));
    client.take_produced();
  }
  cluster.partition().roll_back(1);
  client.produce(next_batch(3));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::out_of_order_sequence_number);
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().base_offset, offset{1});
}

TEST(ReplicaFaults, ASeededProducerGoesOnWhereTheSeedSays) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.partition().seed_producer({7, 3, 9, 9}, 1'000'000);
  client.produce(next_batch(11, 3));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::out_of_order_sequence_number);
  client.produce(next_batch(10, 2));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::invalid_producer_epoch);
  client.produce(next_batch(10, 3));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
}

TEST(ReplicaFaults, ASmallerWindowKnowsFewerDuplicates) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  client.produce(next_batch(0));
  client.produce(next_batch(1));
  client.take_produced();
  client.take_produced();
  cluster.core.state().alter_topic("t", "partita.dedup.window", "1");
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::out_of_order_sequence_number);
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().base_offset, offset{1});
  cluster.core.state().alter_topic("t", "partita.dedup.window", "0");
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::out_of_order_sequence_number);
  EXPECT_EQ(cluster.partition().log().end(), 2);
}

TEST(ReplicaFaults, AnUnknownProducerMayHaveToStartAtZero) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.state().alter_topic("t", "partita.demand.sequence.zero", "true");
  client.produce(next_batch(4));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::out_of_order_sequence_number);
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
}

}  // namespace
}  // namespace partita::testing
