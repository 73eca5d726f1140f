// librdkafka by its own interface against the simulated cluster: the offset that it tells for each
// message is where the message lies.
#include <partita/testing/cluster.hpp>

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

struct report {
  int times = 0;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::int32_t partition = -1;
  std::int64_t offset = -1;
};

void keep_report(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  auto* kept = static_cast<report*>(message->_private);
  ++kept->times;
  kept->error = message->err;
  kept->partition = message->partition;
  kept->offset = message->offset;
}

class librdkafka_producer {
 public:
  explicit librdkafka_producer(const std::vector<std::pair<std::string, std::string>>& settings) {
    char reason[512];
    rd_kafka_conf_t* config = rd_kafka_conf_new();
    for (const auto& [name, value] : settings) {
      EXPECT_EQ(rd_kafka_conf_set(config, name.c_str(), value.c_str(), reason, sizeof reason),
                RD_KAFKA_CONF_OK)
          << reason;
    }
    rd_kafka_conf_set_dr_msg_cb(config, keep_report);
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, config, reason, sizeof reason);
    EXPECT_NE(handle_, nullptr) << reason;
  }
  ~librdkafka_producer() {
    if (handle_ != nullptr) rd_kafka_destroy(handle_);
  }
  librdkafka_producer(const librdkafka_producer&) = delete;
  librdkafka_producer& operator=(const librdkafka_producer&) = delete;

  bool produce(std::int32_t partition, const std::string& key, const std::string& value,
               report& kept) {
    return rd_kafka_producev(
               handle_, RD_KAFKA_V_TOPIC("letters"), RD_KAFKA_V_PARTITION(partition),
               RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
               RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
               RD_KAFKA_V_OPAQUE(&kept), RD_KAFKA_V_END) == RD_KAFKA_RESP_ERR_NO_ERROR;
  }
  bool flush() { return rd_kafka_flush(handle_, 60'000) == RD_KAFKA_RESP_ERR_NO_ERROR; }

 private:
  rd_kafka_t* handle_ = nullptr;
};

void expect_reports_match(const loopback_cluster& cluster, const std::vector<report>& reports,
                          int partitions) {
  std::vector<std::vector<log_record>> logs;
  std::size_t total = 0;
  for (int partition = 0; partition < partitions; ++partition) {
    logs.push_back(cluster.log("letters", partition));
    total += logs.back().size();
  }
  EXPECT_EQ(total, reports.size());
  for (std::size_t number = 0; number < reports.size(); ++number) {
    const report& told = reports[number];
    ASSERT_EQ(told.times, 1) << number;
    ASSERT_EQ(told.error, RD_KAFKA_RESP_ERR_NO_ERROR) << number << rd_kafka_err2str(told.error);
    const auto& log = logs.at(static_cast<std::size_t>(told.partition));
    ASSERT_GE(told.offset, 0);
    ASSERT_LT(static_cast<std::size_t>(told.offset), log.size());
    ASSERT_EQ(log[static_cast<std::size_t>(told.offset)].value, "value-" + std::to_string(number));
  }
}

TEST(Librdkafka, IsToldWhereEachMessageLies) {
  cluster_options options;
  options.topics["letters"] = {.partitions = 12};
  loopback_cluster cluster(options);
  ASSERT_FALSE(cluster.listening());
  librdkafka_producer producer({{"bootstrap.servers", cluster.bootstrap()},
                                {"enable.idempotence", "true"},
                                {"compression.codec", "lz4"},
                                {"linger.ms", "1"}});

  std::vector<report> reports(10'000);
  for (std::size_t number = 0; number < reports.size(); ++number) {
    ASSERT_TRUE(producer.produce(RD_KAFKA_PARTITION_UA, "key-" + std::to_string(number % 100),
                                 "value-" + std::to_string(number), reports[number]));
  }
  ASSERT_TRUE(producer.flush());

  expect_reports_match(cluster, reports, 12);
}

TEST(Librdkafka, IsToldTheFirstOffsetAfterAnswersWereLost) {
  cluster_options options;
  options.topics["letters"] = {.partitions = 1};
  loopback_cluster cluster(options);
  ASSERT_FALSE(cluster.listening());
  librdkafka_producer producer({{"bootstrap.servers", cluster.bootstrap()},
                                {"enable.idempotence", "true"},
                                {"batch.num.messages", "200"},
                                {"retry.backoff.ms", "10"}});

  // Let it settle first: with five requests under way several answers would be lost at once.
  std::vector<report> reports(4'000);
  for (std::size_t number = 0; number < reports.size(); ++number) {
    if (number == 1'000) {
      ASSERT_TRUE(producer.flush());
      cluster.inject(fault{.topic = "letters", .times = 1, .reply = reply::close_before});
    }
    ASSERT_TRUE(producer.produce(0, "key", "value-" + std::to_string(number), reports[number]));
  }
  ASSERT_TRUE(producer.flush());

  EXPECT_GE(cluster.counters().batches_deduplicated, 1U);
  expect_reports_match(cluster, reports, 1);
}

}  // namespace
}  // namespace partita::testing
