// Records of every shape to one real broker, read back by kcat and by Kafka's console consumer.
// Each acknowledged offset is compared with the log.
#include "integration/acknowledged_history.hpp"
#include "integration/foreign_readers.hpp"
#include "integration/shared_cluster.hpp"

#include <partita/producer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace partita::testing {
namespace {

const shared_cluster one_broker(1,
                                {"auto.create.topics.enable=false", "message.max.bytes=2200000"});

producer_config config_here() {
  producer_config config;
  config.bootstrap_servers = shared_cluster::get().bootstrap();
  return config;
}

void expect_all_delivered(producer& producer, const acknowledged_history& history) {
  const tally flushed = producer.flush().get();
  EXPECT_EQ(history.unanswered(), 0U);
  EXPECT_EQ(history.tallied(), (tally{.delivered = history.entries().size()}));
  EXPECT_LE(flushed.total(), history.entries().size());
}

std::vector<history_entry> records_of_every_shape() {
  using namespace std::chrono_literals;
  const timestamp years_ago{1'577'836'800'000ms};
  const auto nothing = std::nullopt;
  std::vector<history_entry> shapes = {
      {"key", "value", {}, 0, nothing},
      {nothing, "no key", {}, 0, nothing},
      {"", "empty key", {}, 0, nothing},
      {"empty value", "", {}, 0, nothing},
      {"tombstone", nothing, {}, 0, nothing},
      {"", nothing, {}, 0, nothing},
      {nothing, nothing, {}, 0, nothing},
      {nothing, "", {}, 0, nothing},
      {"one header", "v", {{"h", "1"}}, 1, nothing},
      {"same header twice", "v", {{"h", "1"}, {"h", "2"}, {"g", "3"}, {"h", "1"}}, 1, nothing},
      {"null and empty header",
       "v",
       {{"null", nothing}, {"empty", ""}, {"null", nothing}},
       1,
       nothing},
      {"header without a name", "v", {{"", "nameless"}}, 1, nothing},
      {"header in UTF-8",
       "v",
       {{"gr\xC3\xB6\xC3\x9F"
         "e",
         "\xE2\x82\xAC"}},
       1,
       nothing},
      {"tombstone with header", nothing, {{"why", "deleted"}}, 1, nothing},
      {"time of long ago", "v", {}, 2, years_ago},
      {"the first millisecond", "v", {}, 2, timestamp{1ms}},
      {"the epoch itself", "v", {}, 2, timestamp{0ms}},
      {"ages in one batch", "v", {}, 2, years_ago + 1ms},
  };
  for (int number = 0; number < 60; ++number) {
    shapes.push_back({"spread-" + std::to_string(number), "v", {}, number % 3, nothing});
  }
  return shapes;
}

TEST(Produce, KeepsEveryShapeOfRecord) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("shapes", 3, 1);
  acknowledged_history history("shapes");
  producer producer(config_here());

  for (history_entry& shape : records_of_every_shape()) history.produce(producer, std::move(shape));
  expect_all_delivered(producer, history);

  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "shapes")), "");
  EXPECT_EQ(
      console_read(cluster.version(), cluster.bootstrap(), "shapes", history.entries().size()),
      history.console_lines());
  // The texts above cannot tell a null header value from the word; JSON can.
  const std::vector<std::string> lines = kcat_read_json(cluster.bootstrap(), "shapes");
  EXPECT_EQ(lines.size(), history.entries().size());
  std::map<std::string, int> seen;
  for (const std::string& line : lines) {
    for (const char* part :
         {R"("headers":["null",null,"empty","","null",null])",
          R"("headers":["h","1","h","2","g","3","h","1"])", R"("key":"tombstone","payload":null)",
          R"("key":null,"payload":null)"}) {
      if (line.find(part) != std::string::npos) ++seen[part];
    }
  }
  EXPECT_EQ(seen.size(), 4U) << ::testing::PrintToString(seen);
}

/// The codec of each batch of a segment file, read from the attributes where the format has them.
std::set<int> codecs_in(const std::string& segment) {
  std::ifstream file(segment, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr std::size_t before_length = 8;
  constexpr std::size_t before_batch = 12;
  constexpr std::size_t low_byte_of_attributes = 22;
  std::set<int> codecs;
  for (std::size_t begin = 0; begin + 61 <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = length << 8 | static_cast<unsigned char>(bytes[begin + before_length + i]);
    }
    if (length == 0) break;  // brokers allocate segments ahead on some systems
    codecs.insert(bytes[begin + low_byte_of_attributes] & 7);
    begin += before_batch + length;
  }
  return codecs;
}

TEST(Produce, CompressesByEachCodecWhatForeignClientsRead) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("codecs", 5, 1);
  acknowledged_history history("codecs");

  for (const compression codec : {compression::none, compression::gzip, compression::snappy,
                                  compression::lz4, compression::zstd}) {
    producer_config config = config_here();
    config.compression = codec;
    producer producer(config);
    const int number = static_cast<int>(codec);
    for (int record = 0; record < 500; ++record) {
      const std::string name = std::to_string(number) + "-" + std::to_string(record);
      std::string value = name;
      while (value.size() < 400) value += " and again " + std::to_string(value.size() % 7);
      history.produce(producer,
                      {name, value, {{"codec", std::to_string(number)}}, number, std::nullopt});
    }
    EXPECT_TRUE(producer.flush().get().all_delivered());
  }
  EXPECT_EQ(history.tallied(), (tally{.delivered = 2500}));

  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "codecs")), "");
  EXPECT_EQ(console_read(cluster.version(), cluster.bootstrap(), "codecs", 2500),
            history.console_lines());
  for (int codec = 0; codec < 5; ++codec) {
    EXPECT_EQ(codecs_in(shared_cluster::log_directory() + "/codecs-" + std::to_string(codec) +
                        "/00000000000000000000.log"),
              std::set<int>{codec});
  }
}

TEST(Produce, AsksForTheAcknowledgementItWasToldTo) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("acknowledgements", 3, 1);
  acknowledged_history history("acknowledgements");
  constexpr int per_partition = 400;

  {
    // A new topic may not be served at once, and only an idempotent producer may ask again: without
    // idempotence a refusal that leaves doubt ends a record, without acknowledgements in silence.
    producer first(config_here());
    for (int partition = 0; partition < 3; ++partition)
      history.produce(first, {"first " + std::to_string(partition), "first", {}, partition, {}});
    (void)first.flush().get();
  }
  for (const acks asked : {acks::none, acks::leader, acks::all}) {
    producer_config config = config_here();
    config.acks = asked;
    config.enable_idempotence = false;
    config.linger = std::chrono::microseconds{100};  // many small batches
    producer producer(config);
    const int partition = static_cast<int>(asked) + 1;
    for (int record = 0; record < per_partition; ++record) {
      history.produce(
          producer,
          {std::to_string(partition), "value " + std::to_string(record), {}, partition, {}}, 50);
    }
    (void)producer.flush().get();
  }
  EXPECT_EQ(history.unanswered(), 0U);

  // Partition 1 had no acknowledgements: its last records may arrive after the flush.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  std::vector<foreign_record> log = kcat_read(cluster.bootstrap(), "acknowledgements");
  while (log.size() < 3 * per_partition + 3 && std::chrono::steady_clock::now() < limit) {
    log = kcat_read(cluster.bootstrap(), "acknowledgements");
  }
  EXPECT_EQ(log.size(), 3U * per_partition + 3);
  EXPECT_EQ(history.differences(log), "");
  EXPECT_EQ(history.tallied(),
            (tally{.delivered = 2 * per_partition + 3, .unknown = per_partition}));
  for (const history_entry& entry : history.entries()) {
    if (entry.partition != partition_id{1} || entry.answers.empty()) continue;
    if (entry.value == "first") continue;
    ASSERT_NE(entry.answers[0].failure(), nullptr);
    EXPECT_EQ(entry.answers[0].failure()->code, client_errc::no_acknowledgement);
  }
}

TEST(Produce, SendsFromOneByteToOneMegabyte) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("sizes", 2, 1, {"max.message.bytes=2200000"});
  acknowledged_history history("sizes");
  std::mt19937 draws(7);  // NOLINT: the same bytes in every run are wanted

  for (const compression codec : {compression::none, compression::zstd}) {
    producer_config config = config_here();
    config.compression = codec;
    config.max_request_size_bytes = 2'000'000;
    producer producer(config);
    const partition_id partition = codec == compression::none ? 0 : 1;
    for (int round = 0; round < 2; ++round) {
      for (const std::size_t size :
           {1U, 2U, 63U, 64U, 1'000U, 8'191U, 65'536U, 999'900U, 1'048'576U}) {
        std::string value(size, '\0');
        for (char& byte : value) byte = static_cast<char>(draws());
        const std::string key = std::to_string(size) + "/" + std::to_string(round) + "/" +
                                std::to_string(partition.value);
        history.produce(producer, {key, std::move(value), {}, partition, std::nullopt});
      }
    }
    EXPECT_TRUE(producer.flush().get().all_delivered());
  }

  EXPECT_EQ(history.tallied(), (tally{.delivered = 36}));
  EXPECT_EQ(history.differences(
                kcat_read(cluster.bootstrap(), "sizes", "-X fetch.message.max.bytes=3000000")),
            "");
}

TEST(Produce, SpreadsTenThousandKeyedRecordsAsOtherClientsDo) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("keyed", 12, 1);
  acknowledged_history history("keyed");
  constexpr int keys = 1'000;
  producer_config config = config_here();
  config.lanes = 2;
  config.compression = compression::lz4;
  producer producer(config);

  for (int record = 0; record < 10'000; ++record) {
    history.produce(
        producer,
        {"key-" + std::to_string(record % keys), "value-" + std::to_string(record), {}, {}, {}});
  }
  expect_all_delivered(producer, history);

  const std::vector<foreign_record> log = kcat_read(cluster.bootstrap(), "keyed");
  EXPECT_EQ(log.size(), 10'000U);
  EXPECT_EQ(history.differences(log), "");
  EXPECT_EQ(console_read(cluster.version(), cluster.bootstrap(), "keyed", 10'000),
            history.console_lines());

  // librdkafka's own murmur2 puts the same keys into the same partitions.
  std::string lines;
  for (int key = 0; key < keys; ++key) lines += "key-" + std::to_string(key) + ":theirs\n";
  ASSERT_TRUE(
      kcat_write(cluster.bootstrap(), "keyed", lines, "-K : -X partitioner=murmur2_random"));
  std::map<std::string, std::set<std::int32_t>> partitions_of_key;
  std::set<std::int32_t> partitions;
  for (const foreign_record& record : kcat_read(cluster.bootstrap(), "keyed")) {
    partitions_of_key[record.key.value_or("")].insert(record.partition);
    partitions.insert(record.partition);
  }
  EXPECT_EQ(partitions_of_key.size(), static_cast<std::size_t>(keys));
  EXPECT_EQ(partitions.size(), 12U);
  for (const auto& [key, found] : partitions_of_key) EXPECT_EQ(found.size(), 1U) << key;
}

TEST(Produce, TellsTheBrokersTimeWhereTheTopicUsesIt) {
  kafka_cluster& cluster = shared_cluster::get();
  cluster.create_topic("stamped", 1, 1, {"message.timestamp.type=LogAppendTime"});
  acknowledged_history history("stamped");
  producer producer(config_here());

  // Paced, so that a batch spans some milliseconds and its last record may have the broker's time
  // as its own.
  for (int record = 0; record < 1'000; ++record) {
    history.produce(producer, {"key", std::to_string(record), {}, {}, {}});
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  expect_all_delivered(producer, history);

  EXPECT_EQ(history.differences(kcat_read(cluster.bootstrap(), "stamped")), "");
  EXPECT_EQ(console_read(cluster.version(), cluster.bootstrap(), "stamped", 1'000),
            history.console_lines("LogAppendTime"));
}

}  // namespace
}  // namespace partita::testing
