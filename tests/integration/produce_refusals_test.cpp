// Records that a real broker, or the producer on its behalf, refuses: what they are answered, and
// that their neighbours are untouched. Runs in the program of produce_test.cpp, on its cluster.
#include "integration/acknowledged_history.hpp"
#include "integration/foreign_readers.hpp"
#include "integration/shared_cluster.hpp"

#include <partita/producer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace partita::testing {
namespace {

producer_config skipping_config() {
  producer_config config;
  config.bootstrap_servers = shared_cluster::get().bootstrap();
  config.on_failure = failure_policy::skip;
  return config;
}

const failed* failure_of(const history_entry& entry) {
  return entry.answers.size() == 1 ? entry.answers[0].failure() : nullptr;
}

TEST(ProduceRefusals, LeaveTheNeighboursOfTooLargeRecordsAlone) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("narrow", 1, 1, {"max.message.bytes=2000"});
  acknowledged_history history("narrow");
  producer producer(skipping_config());

  history.produce(producer, {"a", "before", {}, {}, {}});
  // More than the broker takes: only the broker knows. Alone in its batch, because what shares a
  // batch shares its fate.
  EXPECT_TRUE(producer.flush().get().all_delivered());
  history.produce(producer, {"a", std::string(5'000, 'x'), {}, {}, {}});
  (void)producer.flush().get();
  // More than max.request.size: never sent.
  history.produce(producer, {"a", "between", {}, {}, {}});
  history.produce(producer, {"a", std::string(1'100'000, 'y'), {}, {}, {}});
  history.produce(producer, {"a", "after", {}, {}, {}});
  (void)producer.flush().get();

  ASSERT_EQ(history.unanswered(), 0U);
  EXPECT_EQ(history.tallied(), (tally{.delivered = 3, .not_written = 2}));
  const failed* by_broker = failure_of(history.entries()[1]);
  const failed* by_us = failure_of(history.entries()[3]);
  ASSERT_NE(by_broker, nullptr);
  ASSERT_NE(by_us, nullptr);
  EXPECT_EQ(by_broker->code, broker_errc::message_too_large) << by_broker->code.message();
  EXPECT_EQ(by_broker->topic, "narrow");
  EXPECT_EQ(by_broker->partition, partition_id{0});
  EXPECT_GE(by_broker->attempts, 1);
  EXPECT_EQ(by_us->code, client_errc::record_too_large) << by_us->code.message();
  EXPECT_EQ(by_us->attempts, 0);
  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "narrow")), "");
}

TEST(ProduceRefusals, AnswerUnknownTopicsAndPartitionsAndGoOn) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("known", 2, 1);
  producer_config config = skipping_config();
  config.allow_auto_create_topics = false;
  config.max_block = std::chrono::seconds{4};
  producer producer(config);
  acknowledged_history known("known");
  acknowledged_history unknown("no-such-topic");
  acknowledged_history nameless("");
  acknowledged_history impossible("not/a/topic");

  for (int record = 0; record < 20; ++record) {
    known.produce(producer, {"key", std::to_string(record), {}, record % 2, {}});
    unknown.produce(producer, {"key", std::to_string(record), {}, {}, {}});
    if (record == 10) {
      known.produce(producer, {"key", "in a partition that is not there", {}, 2, {}});
      known.produce(producer, {"key", "in a negative partition", {}, -2, {}});
      known.produce(producer,
                    {"key", "before the epoch", {}, 0, timestamp{std::chrono::milliseconds{-5}}});
      known.produce(producer, {"key", "bad header", {{"\xC3\x28", "v"}}, 0, {}});
      nameless.produce(producer, {"key", "no topic", {}, {}, {}});
      impossible.produce(producer, {"key", "bad name", {}, {}, {}});
    }
  }
  (void)producer.flush().get();

  ASSERT_EQ(
      known.unanswered() + unknown.unanswered() + nameless.unanswered() + impossible.unanswered(),
      0U);
  EXPECT_EQ(known.tallied(), (tally{.delivered = 20, .not_written = 4}));
  EXPECT_EQ(unknown.tallied(), (tally{.not_written = 20}));
  const client_errc expected[] = {client_errc::invalid_partition, client_errc::invalid_partition,
                                  client_errc::invalid_timestamp, client_errc::invalid_header};
  for (std::size_t bad = 0; bad < 4; ++bad) {
    const failed* failure = failure_of(known.entries()[11 + bad]);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->code, expected[bad]) << failure->code.message();
  }
  for (const history_entry& entry : unknown.entries()) {
    const failed* failure = failure_of(entry);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->code, client_errc::metadata_timeout) << failure->code.message();
    EXPECT_EQ(failure->cause, broker_errc::unknown_topic_or_partition) << failure->cause.message();
    EXPECT_EQ(failure->topic, "no-such-topic");
  }
  for (const acknowledged_history* refused : {&nameless, &impossible}) {
    const failed* failure = failure_of(refused->entries()[0]);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->fate, fate::not_written);
    EXPECT_EQ(failure->code, client_errc::invalid_topic) << failure->code.message();
  }
  EXPECT_EQ(known.differences(kcat_read(cluster.bootstrap(), "known")), "");
  EXPECT_EQ(run_command("kcat -L -b " + cluster.bootstrap()).output.find("no-such-topic"),
            std::string::npos);
}

}  // namespace
}  // namespace partita::testing
