// What a simulated broker can be made to do besides faults of produce attempts.
#include "testing_talker.hpp"

#include "wire/messages/api_versions.hpp"
#include "wire/messages/init_producer_id.hpp"
#include "wire/messages/metadata.hpp"

#include <gtest/gtest.h>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::int16_t metadata_version = 12;

wire::metadata_request about_t() {
  wire::metadata_request request;
  request.topics.emplace();
  request.topics->push_back({{}, "t"});
  return request;
}

wire::metadata_response::topic told(talker& client) {
  client.ask(about_t(), metadata_version);
  const auto answer = client.take<wire::metadata_response>(metadata_version);
  if (answer.topics.size() == 1) return answer.topics.front();
  ADD_FAILURE() << answer.topics.size() << " topics";
  return {};
}

broker_errc id_code(talker& client) {
  client.ask(wire::init_producer_id_request{}, 3);
  return client.take<wire::init_producer_id_response>(3).error_code;
}

TEST(ApiFaults, AnErrorHitsTheRequestsThatItNames) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  api_fault wanted{.api = api::init_producer_id, .skip_first = 1, .times = 2};
  wanted.code = broker_errc::coordinator_load_in_progress;
  cluster.core.api_faults().add(wanted);
  EXPECT_EQ(told(client).error_code, broker_errc::none);  // another API
  EXPECT_EQ(id_code(client), broker_errc::none);
  EXPECT_EQ(id_code(client), broker_errc::coordinator_load_in_progress);
  EXPECT_EQ(id_code(client), broker_errc::coordinator_load_in_progress);
  EXPECT_EQ(id_code(client), broker_errc::none);
  EXPECT_EQ(cluster.core.counters().faults_hit, 2U);
}

TEST(ApiFaults, ErrorsOfMetadataConcernTheTopicAndLeaveNoPartition) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  api_fault wanted{.api = api::metadata};
  wanted.code = broker_errc::topic_authorization_failed;
  cluster.core.api_faults().add(wanted);
  const auto topic = told(client);
  EXPECT_EQ(topic.error_code, broker_errc::topic_authorization_failed);
  EXPECT_TRUE(topic.partitions.empty());
  EXPECT_EQ(told(client).partitions.size(), 2U);
}

TEST(ApiFaults, AMutedRequestBlocksWhatLiesBehindIt) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  talker other{cluster.core, 1};
  cluster.core.api_faults().add(api_fault{.api = api::metadata, .reply = reply::never});
  client.ask(about_t(), metadata_version);
  client.ask(wire::init_producer_id_request{}, 3);
  EXPECT_EQ(client.answers(), 0U);
  EXPECT_EQ(told(other).error_code, broker_errc::none);
}

TEST(ApiFaults, AnAnswerIsCutAtEveryByte) {
  small_cluster cluster;
  std::size_t whole = 0;
  {
    talker client{cluster.core, 1};
    client.ask(about_t(), metadata_version);
    whole = client.raw().size();
  }
  for (std::size_t length = 0; length < whole; ++length) {
    talker client{cluster.core, 1};
    api_fault cut{.api = api::metadata, .reply = reply::cut_answer};
    cut.cut_at = length;
    cluster.core.api_faults().add(cut);
    client.ask(about_t(), metadata_version);
    ASSERT_EQ(client.answers(), 1U);
    EXPECT_EQ(client.raw().size(), length);
    EXPECT_EQ(client.ended(), "reset");
  }
}

TEST(ApiFaults, AnAnswerComesLate) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  api_fault late{.api = api::metadata, .reply = reply::truthful};
  late.answer_after = 200ms;
  cluster.core.api_faults().add(late);
  client.ask(about_t(), metadata_version);
  cluster.pass(199ms);
  EXPECT_EQ(client.answers(), 0U);
  cluster.pass(1ms);
  EXPECT_EQ(client.answers(), 1U);
}

TEST(ApiFaults, AnUnsupportedVersionIsAnsweredInVersionZero) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  api_fault wanted{.api = api::api_versions};
  wanted.code = broker_errc::unsupported_version;
  cluster.core.api_faults().add(wanted);
  wire::api_versions_request request;
  request.client_software_name = "test";
  request.client_software_version = "1";
  client.ask(request, 3);
  EXPECT_EQ(client.take<wire::api_versions_response>(0).error_code,
            broker_errc::unsupported_version);
}

TEST(ApiFaults, AWithdrawnApiIsNeitherOfferedNorServed) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.state().offer(static_cast<std::int16_t>(api::init_producer_id), {1, 0});
  cluster.core.state().offer(static_cast<std::int16_t>(api::produce), {3, 6});
  client.ask(wire::api_versions_request{}, 0);
  const auto offered = client.take<wire::api_versions_response>(0);
  for (const auto& one : offered.apis) {
    EXPECT_NE(one.key, static_cast<std::int16_t>(api::init_producer_id));
    if (one.key == static_cast<std::int16_t>(api::produce)) {
      EXPECT_EQ(one.last, 6);
    }
  }
  client.ask(wire::init_producer_id_request{}, 3);
  EXPECT_EQ(client.ended(), "fin");
}

TEST(ApiFaults, IdsAndEpochsCanBeGiven) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  cluster.core.state().answer_next_id(77, 32'766);
  client.ask(wire::init_producer_id_request{}, 3);
  const auto first = client.take<wire::init_producer_id_response>(3);
  EXPECT_EQ(first.producer_id, producer_id{77});
  EXPECT_EQ(first.producer_epoch, producer_epoch{32'766});
  client.ask(wire::init_producer_id_request{}, 3);
  EXPECT_EQ(client.take<wire::init_producer_id_response>(3).producer_id, producer_id{1000});
}

TEST(MetadataLies, OneBrokerDeniesTheTopic) {
  small_cluster cluster;
  talker honest{cluster.core, 1};
  talker liar{cluster.core, 2};
  metadata_lie lie{.topic = "t", .broker = 2, .times = 1};
  lie.topic_code = broker_errc::unknown_topic_or_partition;
  cluster.core.api_faults().add(lie);
  EXPECT_EQ(told(honest).error_code, broker_errc::none);
  EXPECT_EQ(told(liar).error_code, broker_errc::unknown_topic_or_partition);
  EXPECT_EQ(told(liar).error_code, broker_errc::none);
}

TEST(MetadataLies, LeadersEpochsAndPartitionsAreWhatItSays) {
  small_cluster cluster;
  talker client{cluster.core, 1};
  metadata_lie leaderless{.topic = "t", .times = 1, .partition = 1};
  leaderless.leader = broker_id{};
  leaderless.leader_epoch = 0;
  cluster.core.api_faults().add(leaderless);
  auto topic = told(client);
  EXPECT_EQ(topic.partitions.at(0).leader, broker_id{1});
  EXPECT_FALSE(topic.partitions.at(1).leader.known());
  EXPECT_EQ(topic.partitions.at(1).error_code, broker_errc::leader_not_available);

  metadata_lie without{.topic = "t", .times = 1, .partition = 0};
  without.leave_out_partition = true;
  cluster.core.api_faults().add(without);
  topic = told(client);
  ASSERT_EQ(topic.partitions.size(), 1U);
  EXPECT_EQ(topic.partitions.front().index, partition_id{1});

  metadata_lie count{.topic = "t", .times = 1};
  count.partition_count = 5;
  cluster.core.api_faults().add(count);
  topic = told(client);
  ASSERT_EQ(topic.partitions.size(), 5U);
  EXPECT_FALSE(topic.partitions.at(4).leader.known());

  metadata_lie no_id{.topic = "t", .times = 1};
  no_id.without_topic_id = true;
  cluster.core.api_faults().add(no_id);
  EXPECT_FALSE(told(client).topic_id.known());
  EXPECT_TRUE(told(client).topic_id.known());
}

TEST(Rights, EachIsRefusedWithItsCode) {
  small_cluster cluster;
  auto& state = cluster.core.state();
  talker client{cluster.core, 1};
  state.deny(right::write, "t");
  client.produce(next_batch(0));
  auto answer = client.take_produced();
  EXPECT_EQ(answer.error_code, broker_errc::topic_authorization_failed);
  EXPECT_EQ(answer.base_offset, offset{-1});
  state.allow(right::write, "t");
  client.produce(next_batch(0));
  EXPECT_EQ(client.take_produced().error_code, broker_errc::none);

  state.deny(right::idempotent_write, {});
  EXPECT_EQ(id_code(client), broker_errc::cluster_authorization_failed);
  state.deny(right::describe, "t");
  EXPECT_EQ(told(client).error_code, broker_errc::topic_authorization_failed);

  state.deny(right::read, "t");
  wire::fetch_request request;
  request.topics.push_back({"t", {}, {}});
  request.topics.front().partitions.emplace_back();
  request.topics.front().partitions.front().index = 0;
  client.ask(request, 12);
  EXPECT_EQ(client.take<wire::fetch_response>(12).topics.front().partitions.front().error_code,
            broker_errc::topic_authorization_failed);
}

}  // namespace
}  // namespace partita::testing
