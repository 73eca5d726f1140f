// Clients that nobody here wrote, against our own simulated cluster on loopback ports: if it fooled
// them, tests on it would prove nothing. What it holds is compared with what they sent, and with
// what they read.
#include "integration/foreign_readers.hpp"

#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

constexpr int codecs = 5;
const char* const codec_names[codecs] = {"none", "gzip", "snappy", "lz4", "zstd"};

cluster_options three_brokers() {
  cluster_options options;
  options.brokers = 3;
  options.topics["letters"] = {.partitions = codecs};
  return options;
}

std::string value_of(int codec, int number) {
  return std::string(codec_names[codec]) + "-" + std::to_string(number) +
         std::string(static_cast<std::size_t>(number % 300), 'x');
}

/// Lets kcat fill each partition with 1,000 records by another codec.
void fill_by_kcat(const loopback_cluster& cluster) {
  for (int codec = 0; codec < codecs; ++codec) {
    std::string lines;
    for (int number = 0; number < 1'000; ++number) {
      lines += "key-" + std::to_string(number % 10) + ":" + value_of(codec, number) + "\n";
    }
    EXPECT_TRUE(kcat_write(cluster.bootstrap(), "letters", lines,
                           std::string("-X enable.idempotence=true -K : -H from=kcat -z ") +
                               codec_names[codec] + " -p " + std::to_string(codec)))
        << codec_names[codec];
  }
}

TEST(OutsideClients, KcatProducesByEachCodecWithIdempotence) {
  loopback_cluster cluster(three_brokers());
  ASSERT_FALSE(cluster.listening());

  fill_by_kcat(cluster);

  for (int codec = 0; codec < codecs; ++codec) {
    const std::vector<log_record> log = cluster.log("letters", codec);
    ASSERT_EQ(log.size(), 1'000U) << codec_names[codec];
    for (int number = 0; number < 1'000; ++number) {
      const log_record& record = log[static_cast<std::size_t>(number)];
      ASSERT_EQ(record.offset, offset{number});
      ASSERT_EQ(record.sequence, sequence{number});
      ASSERT_EQ(record.producer_id, log[0].producer_id);
      ASSERT_TRUE(record.producer_id.known());
      ASSERT_EQ(record.key, "key-" + std::to_string(number % 10));
      ASSERT_EQ(record.value, value_of(codec, number));
      ASSERT_EQ(record.headers, (std::vector<owned_header>{{"from", "kcat"}}));
    }
    for (const log_batch& batch : cluster.batches("letters", codec))
      EXPECT_EQ(batch.attributes & 7, codec);
  }
}

TEST(OutsideClients, KcatAndTheConsoleConsumerReadEachCodecAlike) {
  loopback_cluster cluster(three_brokers());
  ASSERT_FALSE(cluster.listening());
  fill_by_kcat(cluster);

  std::map<std::int32_t, std::int64_t> next;
  std::vector<std::string> lines_of_zstd;
  for (const foreign_record& read : kcat_read(cluster.bootstrap(), "letters")) {
    const std::int64_t number = next[read.partition]++;
    ASSERT_EQ(read.offset, number);
    ASSERT_EQ(read.value, value_of(read.partition, static_cast<int>(number)));
    ASSERT_EQ(read.headers, "from=kcat");
    if (read.partition == codecs - 1) {
      lines_of_zstd.push_back("CreateTime:" + std::to_string(read.timestamp_ms) +
                              "\tPartition:" + std::to_string(read.partition) +
                              "\tOffset:" + std::to_string(read.offset) + "\tfrom:kcat\t" +
                              read.key.value_or("") + "\t" + read.value.value_or(""));
    }
  }
  for (int codec = 0; codec < codecs; ++codec) EXPECT_EQ(next[codec], 1'000) << codec_names[codec];

  std::sort(lines_of_zstd.begin(), lines_of_zstd.end());
  EXPECT_EQ(console_read(kafka_version_under_test(), cluster.bootstrap(), "letters", 1'000,
                         "--partition " + std::to_string(codecs - 1) + " --offset earliest"),
            lines_of_zstd);
}

TEST(OutsideClients, KcatIsToldOnceWhatItHadToSendTwice) {
  loopback_cluster cluster(three_brokers());
  ASSERT_FALSE(cluster.listening());
  cluster.inject(
      fault{.topic = "letters", .skip_first = 1, .times = 2, .reply = reply::close_before});

  std::string lines;
  for (int number = 0; number < 5'000; ++number) lines += "key:" + std::to_string(number) + "\n";
  ASSERT_TRUE(kcat_write(
      cluster.bootstrap(), "letters", lines,
      "-X enable.idempotence=true -X batch.num.messages=500 -X retry.backoff.ms=10 -K : -p 0"));

  EXPECT_GE(cluster.counters().batches_deduplicated, 1U);
  const std::vector<log_record> log = cluster.log("letters", 0);
  ASSERT_EQ(log.size(), 5'000U);
  for (int number = 0; number < 5'000; ++number) {
    ASSERT_EQ(log[static_cast<std::size_t>(number)].value, std::to_string(number));
  }
}

TEST(OutsideClients, ReadWhatPartitaProduced) {
  loopback_cluster cluster(three_brokers());
  ASSERT_FALSE(cluster.listening());
  producer_config config;
  config.bootstrap_servers = cluster.bootstrap();
  config.compression = compression::snappy;
  producer producer(config);

  const header headers[] = {{"twice", "1"}, {"twice", std::nullopt}};
  for (int number = 0; number < 2'000; ++number) {
    const std::string value = value_of(2, number);
    producer.produce(
        {.topic = "letters", .key = "key", .value = value, .headers = headers, .partition = 1},
        [](const outcome&) {});
  }
  EXPECT_TRUE(producer.flush().get().all_delivered());

  const std::vector<foreign_record> read = kcat_read(cluster.bootstrap(), "letters");
  ASSERT_EQ(read.size(), 2'000U);
  std::vector<std::string> lines;
  for (int number = 0; number < 2'000; ++number) {
    const foreign_record& record = read[static_cast<std::size_t>(number)];
    ASSERT_EQ(record.partition, 1);
    ASSERT_EQ(record.offset, number);
    ASSERT_EQ(record.value, value_of(2, number));
    ASSERT_EQ(record.headers, "twice=1,twice=NULL");
    lines.push_back("CreateTime:" + std::to_string(record.timestamp_ms) + "\tPartition:1\tOffset:" +
                    std::to_string(number) + "\ttwice:1,twice:null\tkey\t" + value_of(2, number));
  }
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(console_read(kafka_version_under_test(), cluster.bootstrap(), "letters", 2'000,
                         "--partition 1 --offset earliest"),
            lines);
}

}  // namespace
}  // namespace partita::testing
