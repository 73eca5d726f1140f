#include "testing_talker.hpp"

#include "wire/messages/api_versions.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

TEST(SimulatedProduce, AppendsAndAnswers) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  client.produce(next_batch(0));
  const auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::none);
  EXPECT_EQ(answer.base_offset, offset{0});
  EXPECT_EQ(answer.log_append_time_ms, -1);
}

TEST(SimulatedProduce, AFollowerNamesTheLeader) {
  small_cluster cluster;
  talker client{cluster.core, 2};
  client.produce(next_batch(0));
  const auto answer = client.take<wire::produce_response>(11);
  const auto& part = answer.topics.front().partitions.front();
  EXPECT_EQ(part.error_code, broker_errc::not_leader_or_follower);
  EXPECT_EQ(part.base_offset, offset{-1});
  EXPECT_EQ(part.current_leader.leader, broker_id{1});
  ASSERT_EQ(answer.node_endpoints.size(), 1U);
  EXPECT_EQ(answer.node_endpoints.front().host, "broker-1");
}

TEST(SimulatedProduce, AcksAllWaitsForReplicationAndBlocksItsConnection) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  talker other{cluster.core, 1};
  cluster.hold(true);
  client.produce(next_batch(0));
  client.produce(next_batch(1));
  EXPECT_EQ(client.answers(), 0U);
  EXPECT_EQ(cluster.partition().log().end(), 1);  // the second is not looked at yet
  other.produce({}, 1);
  EXPECT_EQ(other.answers(), 1U);  // another connection overtakes
  cluster.hold(false);
  EXPECT_EQ(client.take_produced().base_offset, offset{0});
  EXPECT_EQ(client.take_produced().base_offset, offset{2});
}

TEST(SimulatedProduce, TheWaitEndsWithSevenAndTheRealOffset) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.hold(true);
  client.produce(next_batch(0), -1, 0, 500);
  cluster.pass(499ms);
  EXPECT_EQ(client.answers(), 0U);
  cluster.pass(1ms);
  const auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::request_timed_out);
  EXPECT_EQ(answer.base_offset, offset{0});
  cluster.hold(false);
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().base_offset, offset{0});  // it was appended, once
  EXPECT_EQ(cluster.partition().log().end(), 1);
}

TEST(SimulatedProduce, ADeduplicatedRetryWaitsToo) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.hold(true);
  client.produce(next_batch(0), 1);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  client.produce(next_batch(0), -1);
  EXPECT_EQ(client.answers(), 0U);
  cluster.hold(false);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
}

TEST(SimulatedProduce, LosingTheLeadershipWhileWaitingIsSixWithTheRealOffset) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.hold(true);
  client.produce(next_batch(0));
  cluster.partition().lead(2);
  cluster.core.settle_waiting();
  const auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::not_leader_or_follower);
  EXPECT_EQ(answer.base_offset, offset{0});
  EXPECT_EQ(answer.current_leader.leader, broker_id{2});
}

TEST(SimulatedProduce, ATopicDeletedWhileWaitingIsThreeWithTheRealOffset) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.hold(true);
  client.produce(next_batch(0));
  cluster.core.state().delete_topic("t");
  cluster.core.settle_waiting();
  const auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::unknown_topic_or_partition);
  EXPECT_EQ(answer.base_offset, offset{0});
}

TEST(SimulatedProduce, VisibleButUnderReplicatedIsTwenty) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.hold(true);
  client.produce(next_batch(0));
  cluster.core.state().hold_replication("t", 0, false);
  cluster.core.state().replicate();
  // The minimum rises and the in-sync set shrinks before anybody looks.
  cluster.core.state().alter_topic("t", "min.insync.replicas", "3");
  cluster.partition().set_running(3, false);
  cluster.core.settle_waiting();
  const auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::not_enough_replicas_after_append);
  EXPECT_EQ(answer.base_offset, offset{0});
}

TEST(SimulatedProduce, AcksZeroIsSilentAndClosesOnAnError) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  client.produce(next_batch(0), 0);
  client.produce(next_batch(1), 1);
  EXPECT_EQ(client.answers(), 1U);
  client.produce(next_batch(9), 0);
  EXPECT_EQ(client.ended(), "fin");
  EXPECT_EQ(client.answers(), 1U);
}

TEST(SimulatedProduce, OfAPartitionNamedTwiceTheLastCounts) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  const auto one = make_batch(next_batch(0));
  const auto two = make_batch(next_batch(1));
  wire::produce_request request;
  request.topics.push_back({"t", {}, {{0, byte_view{one}}, {0, byte_view{two}}}});
  client.ask(request, 11);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  EXPECT_EQ(cluster.partition().log().batches().front()->header.base_sequence, 1);
}

TEST(SimulatedProduce, NullRecordsAreNeverAnsweredNorIsAnythingBehindThem) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  wire::produce_request request;
  request.topics.push_back({"t", {}, {{0, wire::record_bytes{}}}});
  client.ask(request, 11);
  client.produce(next_batch(0));
  EXPECT_EQ(client.answers(), 0U);
  EXPECT_EQ(client.ended(), "");
  EXPECT_EQ(cluster.partition().log().end(), 0);
}

TEST(SimulatedProduce, UnknownTopicIdsAreOneHundredAndEchoed) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  const auto bytes = make_batch(next_batch(0));
  wire::produce_request request;
  request.topics.push_back({"", topic_id{1, 2}, {{0, byte_view{bytes}}}});
  client.ask(request, 13);
  const auto answer = client.take<wire::produce_response>(13);
  EXPECT_EQ(answer.topics.front().topic_id, (topic_id{1, 2}));
  EXPECT_EQ(answer.topics.front().partitions.front().error_code, broker_errc::unknown_topic_id);
}

TEST(SimulatedConnection, ClosesOnUnknownVersionsButAnswersApiVersions) {
  small_cluster cluster;
  talker produce{cluster.core, 1};
  byte_writer old;
  old.number(std::int32_t{12});
  old.number(std::int16_t{0});
  old.number(std::int16_t{2});
  old.number(std::int32_t{1});
  old.number(std::int32_t{0});
  cluster.core.received(produce.id(), old.bytes());
  EXPECT_EQ(produce.ended(), "fin");

  talker versions{cluster.core, 1};
  byte_writer newer;
  newer.number(std::int32_t{11});
  newer.number(std::int16_t{18});
  newer.number(std::int16_t{99});
  newer.number(std::int32_t{1});
  newer.number(std::int16_t{-1});
  newer.number(std::int8_t{0});  // no tagged fields
  cluster.core.received(versions.id(), newer.bytes());
  const auto answer = versions.take<wire::api_versions_response>(0);
  EXPECT_EQ(answer.error_code, broker_errc::unsupported_version);
  ASSERT_EQ(answer.apis.size(), 1U);
  EXPECT_EQ(answer.apis.front().key, 18);
}

TEST(SimulatedConnection, ExecutesWholeFramesOfALostConnectionAndNoPartialOne) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  const auto bytes = make_batch(next_batch(0));
  wire::produce_request request;
  request.acks = 1;
  request.topics.push_back({"t", {}, {{0, byte_view{bytes}}}});
  auto frame = wire::encode_request(request, 11, 1, "test").frame.flatten();
  frame.pop_back();
  cluster.core.received(client.id(), frame);
  cluster.core.lost(client.id(), false);
  EXPECT_EQ(cluster.partition().log().end(), 0);
}

TEST(SimulatedConnection, AWaitingRequestGoesOnWithoutItsClientAndAPrefixFollows) {
  for (const bool reset : {false, true}) {
    small_cluster cluster;
    talker client{cluster.core, 1};
    cluster.hold(true);
    for (std::int32_t sequence = 0; sequence < 4; ++sequence) client.produce(next_batch(sequence));
    cluster.core.lost(client.id(), reset);
    cluster.hold(false);
    // After FIN the first answer leaves unnoticed; after RST not even that one does.
    EXPECT_EQ(cluster.partition().log().end(), reset ? 1 : 2);
  }
}

TEST(SimulatedConnection, AHalfClosedConnectionIsServedToItsEnd) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.hold(true);
  for (std::int32_t sequence = 0; sequence < 3; ++sequence) client.produce(next_batch(sequence));
  cluster.core.input_ended(client.id());
  cluster.hold(false);
  EXPECT_EQ(client.answers(), 3U);
  EXPECT_EQ(client.ended(), "fin");
}

TEST(SimulatedConnection, EverySplitOfAFrameIsTheSameFrame) {
  const auto bytes = make_batch(next_batch(0));
  wire::produce_request request;
  request.acks = 1;
  request.topics.push_back({"t", {}, {{0, byte_view{bytes}}}});
  const auto frame = wire::encode_request(request, 11, 1, "test").frame.flatten();
  for (std::size_t cut = 0; cut <= frame.size(); ++cut) {
    small_cluster cluster;
    talker client{cluster.core, 1};
    cluster.core.received(client.id(), byte_view{frame}.first(cut));
    cluster.core.received(client.id(), byte_view{frame}.subspan(cut));
    EXPECT_EQ(client.take_produced().error_code, broker_errc::none) << cut;
  }
}

TEST(SimulatedConnection, APausedBrokerReadsNothingAndLosesItsLeadershipAfterAWhile) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.pause_broker(1);
  client.produce(next_batch(0));
  EXPECT_EQ(client.answers(), 0U);
  cluster.pass(9s);
  EXPECT_EQ(cluster.partition().leader(), 2);
  EXPECT_EQ(cluster.core.next_deadline_ns(), -1);
  cluster.core.resume_broker(1);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::not_leader_or_follower);
  EXPECT_TRUE(cluster.partition().in_sync(1));
}

TEST(SimulatedConnection, ACleanStopAnswersSixBeforeItClosesAKillDoesNot) {
  for (const auto kind : {stop_kind::clean, stop_kind::kill}) {
    small_cluster cluster;
    talker client{cluster.core, 1};
    cluster.hold(true);
    client.produce(next_batch(0));
    cluster.core.stop_broker(1, kind);
    if (kind == stop_kind::clean) {
      EXPECT_EQ(client.take_produced().error_code, broker_errc::not_leader_or_follower);
      EXPECT_EQ(client.ended(), "fin");
    } else {
      EXPECT_EQ(client.answers(), 0U);
      EXPECT_EQ(client.ended(), "reset");
    }
    EXPECT_EQ(cluster.partition().leader(), 2);
  }
}

TEST(SimulatedConnection, CountsWhatWaitsButNotAFrameThatIsStillArriving) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.received(client.id(), std::vector<std::byte>(4, std::byte{1}));
  EXPECT_EQ(cluster.core.unread(client.id()), 0U);
  talker waiting{cluster.core, 1};
  cluster.hold(true);
  waiting.produce(next_batch(0));
  waiting.produce(next_batch(1));
  EXPECT_GT(cluster.core.unread(waiting.id()), 0U);
  cluster.hold(false);
  EXPECT_EQ(cluster.core.unread(waiting.id()), 0U);
}

TEST(SimulatedFetch, WaitsForBytesAndEndsByProduceOrByTime) {
  small_cluster cluster;
  talker reader{cluster.core, 1};
  talker writer{cluster.core, 1};
  wire::fetch_request request;
  request.max_wait_ms = 100;
  request.min_bytes = 1;
  wire::fetch_request::partition part;
  part.index = 0;
  request.topics.push_back({"t", {}, {part}});
  reader.ask(request, 12);
  EXPECT_EQ(reader.answers(), 0U);
  writer.produce(next_batch(0));
  EXPECT_GT(reader.take<wire::fetch_response>(12).topics[0].partitions[0].records.size(), 0U);
  request.topics[0].partitions[0].fetch_offset = 1;
  reader.ask(request, 12);
  cluster.pass(100ms);
  const auto answer = reader.take<wire::fetch_response>(12);
  EXPECT_EQ(answer.topics[0].partitions[0].records.size(), 0U);
  EXPECT_EQ(answer.topics[0].partitions[0].high_watermark, offset{1});
}

// The fault matrix: every pair of execution and reply leaves exactly the log and the bytes it says.
struct matrix_case {
  execution done;
  reply seen;
};

class FaultMatrix : public ::testing::TestWithParam<matrix_case> {};

TEST_P(FaultMatrix, DoesWhatItSays) {
  const auto wanted = GetParam();
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault fault;
  fault.execution = wanted.done;
  fault.reply = wanted.seen;
  fault.code = wanted.seen == reply::error ? broker_errc::request_timed_out : broker_errc::none;
  cluster.core.faults().add(fault);
  const auto correlation = client.produce(next_batch(0));
  EXPECT_EQ(cluster.partition().log().end(), wanted.done == execution::append ? 1 : 0);
  EXPECT_EQ(cluster.core.counters().faults_hit, 1U);
  const bool answered = wanted.seen != reply::close_before && wanted.seen != reply::reset &&
                        wanted.seen != reply::never;
  ASSERT_EQ(client.answers(), answered ? 1U : 0U);
  const bool closed = wanted.seen == reply::close_before || wanted.seen == reply::close_after;
  EXPECT_EQ(client.ended(), wanted.seen == reply::reset ? "reset" : closed ? "fin" : "");
  if (wanted.seen == reply::truthful || wanted.seen == reply::close_after) {
    EXPECT_EQ(client.take_produced().base_offset, offset{0});
  }
  if (wanted.seen == reply::error) {
    const auto answer = client.take_produced();
    EXPECT_EQ(answer.error_code, broker_errc::request_timed_out);
    EXPECT_EQ(answer.base_offset, offset{-1});
  }
  if (wanted.seen == reply::wrong_correlation_id) {
    EXPECT_EQ(std::to_integer<int>(client.raw()[7]), correlation + 1);
  }
  if (wanted.seen == reply::truncated || wanted.seen == reply::garbage) {
    const auto decoded =
        wire::decode_response<wire::produce_response>(11, byte_view{client.raw()}.subspan(8));
    EXPECT_FALSE(decoded.ok());
  }
  if (wanted.seen == reply::never) {
    client.produce(next_batch(1));
    EXPECT_EQ(client.answers(), 0U);
  }
}

std::vector<matrix_case> whole_matrix() {
  std::vector<matrix_case> all;
  for (const auto done : {execution::append, execution::skip})
    for (const auto seen :
         {reply::truthful, reply::error, reply::close_before, reply::close_after, reply::reset,
          reply::never, reply::wrong_correlation_id, reply::truncated, reply::garbage})
      all.push_back({done, seen});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, FaultMatrix, ::testing::ValuesIn(whole_matrix()));

TEST(Faults, HitTheNthAttemptOfTheirPartitionOnly) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault fault;
  fault.topic = "t";
  fault.partition = 0;
  fault.skip_first = 1;
  fault.reply = reply::error;
  fault.code = broker_errc::not_enough_replicas;
  fault.execution = execution::skip;
  cluster.core.faults().add(fault);
  client.produce({}, -1, 1);
  client.produce(next_batch(0));
  client.produce(next_batch(1));
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::not_enough_replicas);
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);
}

TEST(Faults, AnErrorAfterTheAppendCarriesTheRealOffsetWhenAsked) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault fault;
  fault.reply = reply::error;
  fault.code = broker_errc::request_timed_out;
  fault.real_offset = true;
  client.produce(next_batch(0));
  client.take_produced();
  cluster.core.faults().add(fault);
  client.produce(next_batch(1));
  EXPECT_EQ(client.take_produced().base_offset, offset{1});
}

TEST(Faults, ExecutionAndAnswerCanBeLate) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault fault;
  fault.execute_after = 100ms;
  fault.answer_after = 50ms;
  cluster.core.faults().add(fault);
  client.produce(next_batch(0));
  cluster.pass(99ms);
  EXPECT_EQ(cluster.partition().log().end(), 0);
  cluster.pass(1ms);
  EXPECT_EQ(cluster.partition().log().end(), 1);
  EXPECT_EQ(client.answers(), 0U);
  cluster.pass(50ms);
  EXPECT_EQ(client.answers(), 1U);
}

TEST(Faults, ALateExecutionHappensWithoutItsClient) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault fault;
  fault.execute_after = 100ms;
  cluster.core.faults().add(fault);
  client.produce(next_batch(0));
  cluster.core.lost(client.id(), true);
  cluster.pass(100ms);
  EXPECT_EQ(cluster.partition().log().end(), 1);
}

TEST(Faults, ThrottlingAnswersAtOnceAndMutesTheConnection) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  fault fault;
  fault.throttle = 200ms;
  cluster.core.faults().add(fault);
  client.produce(next_batch(0));
  client.produce(next_batch(1));
  EXPECT_EQ(client.take<wire::produce_response>(11).throttle_time_ms, 200);
  EXPECT_EQ(client.answers(), 0U);
  cluster.pass(200ms);
  EXPECT_EQ(client.answers(), 1U);
}

TEST(Faults, AMixDrawsTheSameForTheSameSeed) {
  fault_plan plan;
  plan.set({.lose_request = 0.2, .lose_answer = 0.2, .refuse = 0.2, .append_then_error = 0.2});
  const auto draw_all = [&](std::uint64_t seed) {
    seeded_draws draws{seed};
    std::string trace;
    for (int i = 0; i < 200; ++i) {
      const auto hit = plan.draw(draws);
      trace += hit ? std::to_string(static_cast<int>(hit->reply)) +
                         std::to_string(static_cast<int>(hit->code))
                   : ".";
    }
    return trace;
  };
  EXPECT_EQ(draw_all(1), draw_all(1));
  EXPECT_NE(draw_all(1), draw_all(2));
  EXPECT_NE(draw_all(1).find('.'), std::string::npos);
}

}  // namespace
}  // namespace partita::testing
