// What a failure says of its cause (LIE-04), and connections that come to nothing (CONN).
#include "tests/sim/metadata_stage.hpp"

#include <gtest/gtest.h>

#include <system_error>

namespace partita::testing {
namespace {

using namespace metadata_stage;  // NOLINT: the words of this file

/// What stood in the way of a record whose time was up.
std::error_code cause_of(history& story, std::size_t record) {
  const failed* failure = story.answer(record).failure();
  EXPECT_NE(failure, nullptr);
  if (failure == nullptr) return {};
  EXPECT_EQ(failure->code, make_error_code(client_errc::delivery_timeout));
  EXPECT_EQ(failure->ended_by, limit::delivery_timeout);
  return failure->cause;
}

TEST(Causes, NoLeader) {
  history story(curious_stage());
  warm_up(story);
  story.cluster().inject(metadata_lie{.topic = topic, .partition = 0, .leader = broker_id{}});
  story.run_for(seconds(1));
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  EXPECT_EQ(cause_of(story, a), make_error_code(broker_errc::leader_not_available));
  EXPECT_EQ(story.answer(a).failure()->fate, fate::not_written);
}

TEST(Causes, LeaderWithoutAddress) {
  history story(curious_stage());
  warm_up(story);
  story.cluster().inject(metadata_lie{
      .topic = topic, .partition = 0, .leader = broker_id{77}, .leader_epoch = leader_epoch{50}});
  story.run_for(seconds(1));
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  EXPECT_EQ(cause_of(story, a), make_error_code(client_errc::leader_without_address));
}

TEST(Causes, SilentLeader) {
  history_options options = stage();
  options.config.connection_setup_timeout = seconds(1);
  options.config.connection_setup_timeout_max = seconds(2);
  history story(options);
  warm_up(story);
  story.cluster().drop_connections(1);
  story.run_for(milliseconds(50));
  story.world().cut_link(1);
  const int led_by_1 = [&] {
    for (int i = 0; i < 3; ++i)
      if (story.cluster().view(topic, i)->leader.value == 1) return i;
    return 0;
  }();
  const std::size_t a = produce(story, led_by_1);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  EXPECT_EQ(cause_of(story, a), make_error_code(client_errc::connection_timeout));
  EXPECT_EQ(story.answer(a).failure()->fate, fate::not_written);
}

TEST(Causes, NobodyAnswered) {
  history story(stage());
  for (int broker = 1; broker <= 3; ++broker) story.cluster().pause_broker(broker);
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  ASSERT_NE(story.answer(a).failure(), nullptr);
  EXPECT_EQ(story.answer(a).failure()->code, make_error_code(client_errc::metadata_timeout));
  EXPECT_NE(story.answer(a).failure()->cause,
            make_error_code(broker_errc::unknown_topic_or_partition))
      << "nobody said so";
}

TEST(fault_lie, lie_04_cause_survives_b) {
  history story(stage());
  warm_up(story);
  story.cluster().inject(refusal(0, broker_errc::not_enough_replicas, 1000));
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  EXPECT_EQ(cause_of(story, a), make_error_code(broker_errc::not_enough_replicas));
  EXPECT_EQ(story.answer(a).failure()->fate, fate::not_written);
  EXPECT_GT(story.answer(a).failure()->attempts, 5);
}

TEST(fault_lie, lie_04_cause_survives_d) {
  history_options options = stage();
  options.config.connection_setup_timeout = seconds(1);
  options.config.connection_setup_timeout_max = seconds(2);
  history story(options);
  warm_up(story);
  fault mute;
  mute.topic = topic;
  mute.partition = 0;
  mute.reply = reply::never;
  story.cluster().inject(mute);
  const std::size_t a = produce(story, 0);
  story.run_for(milliseconds(500));
  story.world().cut_link(story.cluster().view(topic, 0)->leader);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  EXPECT_EQ(cause_of(story, a), make_error_code(client_errc::connection_timeout));
  EXPECT_EQ(story.answer(a).failure()->fate, fate::unknown);
  EXPECT_EQ(story.answer(a).failure()->attempts, 1);
}

TEST(fault_conn, conn_01_handshake_cut_once) {
  history story(stage());
  story.cluster().inject(api_fault{.api = api::api_versions, .times = 1, .reply = reply::reset});
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(1)));
  EXPECT_TRUE(story.answer(a).is_delivered());
  EXPECT_EQ(story.verdict(), "");
}

TEST(fault_conn, conn_02_version_downgrade_ends_a) {
  history story(stage());
  story.cluster().inject(api_fault{
      .api = api::api_versions, .times = always, .code = broker_errc::unsupported_version});
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  ASSERT_NE(story.answer(a).failure(), nullptr);
  EXPECT_EQ(story.answer(a).failure()->cause, make_error_code(client_errc::unsupported_version));
  EXPECT_LT(story.cluster().counters().requests, 600U);
}

TEST(fault_conn, conn_02_version_downgrade_ends_b) {
  history story(stage());
  story.cluster().inject(api_fault{.api = api::api_versions,
                                   .times = always,
                                   .code = broker_errc::cluster_authorization_failed});
  const std::size_t a = produce(story, 0);
  ASSERT_TRUE(answered_within(story, seconds(11)));
  ASSERT_NE(story.answer(a).failure(), nullptr);
  EXPECT_EQ(story.answer(a).failure()->cause,
            make_error_code(broker_errc::cluster_authorization_failed));
}

TEST(fault_conn, conn_15_silent_after_accept) {
  history_options options = stage();
  options.config.connection_setup_timeout = seconds(1);
  options.config.connection_setup_timeout_max = seconds(1);
  options.config.request_timeout = seconds(20);
  options.config.delivery_timeout = seconds(60);
  options.config.max_block = seconds(60);
  history story(options);
  story.cluster().inject(api_fault{.api = api::any, .times = always, .reply = reply::never});
  const std::size_t a = produce(story, 0);
  story.run_for(seconds(30));
  // Each handshake ends at the set-up limit, not at request.timeout.ms.
  EXPECT_GE(story.cluster().counters().connections, 10U);
  story.cluster().clear_faults();
  ASSERT_TRUE(answered_within(story, seconds(5)));
  EXPECT_TRUE(story.answer(a).is_delivered());
}

}  // namespace
}  // namespace partita::testing
