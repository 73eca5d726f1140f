#include <partita/testing/cluster.hpp>
#include <partita/testing/log_reader.hpp>

#include "testing_batches.hpp"

#include "api/testing/blocking_client.hpp"
#include "wire/messages/produce.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace partita::testing {
namespace {

cluster_options one_topic() {
  cluster_options options;
  options.topics["t"] = {.partitions = 2, .replicas = {{1, 2, 3}, {2, 3, 1}}};
  return options;
}

std::int64_t clock_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

read_end produce(blocking_client& client, const batch_spec& spec, wire::produce_response& answer,
                 std::int16_t version = 11) {
  const auto bytes = make_batch(spec);
  wire::produce_request request;
  request.timeout_ms = 30'000;
  request.topics.push_back({"t", {}, {{0, byte_view{bytes}}}});
  std::vector<std::byte> storage;
  return client.call(request, version, answer, storage);
}

batch_spec batch_now(std::int32_t sequence, std::vector<std::string> values) {
  return {.producer_id = 7,
          .epoch = 0,
          .sequence = sequence,
          .values = std::move(values),
          .timestamp = clock_ms()};
}

TEST(LoopbackCluster, ServesAProducerAndALogReader) {
  loopback_cluster cluster{one_topic()};
  ASSERT_FALSE(cluster.listening());
  blocking_client client{std::chrono::seconds{30}};
  ASSERT_TRUE(client.connect("127.0.0.1", cluster.port(1)).ok());
  wire::produce_response answer;
  ASSERT_TRUE(produce(client, batch_now(0, {"a", "b"}), answer).ok());
  ASSERT_TRUE(produce(client, batch_now(2, {"c"}), answer).ok());
  EXPECT_EQ(answer.topics.front().partitions.front().base_offset, offset{2});

  log_reader reader{cluster.bootstrap()};
  std::vector<partition_id> partitions;
  ASSERT_TRUE(reader.partitions("t", partitions).ok());
  EXPECT_EQ(partitions.size(), 2U);
  std::string seen;
  const auto end = reader.read("t", 0, [&](const log_record& record) {
    seen += *record.value + std::to_string(record.sequence.value) + " ";
  });
  EXPECT_TRUE(end.ok()) << end.text;
  EXPECT_EQ(seen, "a0 b1 c2 ");
  seen.clear();
  EXPECT_TRUE(reader
                  .read(
                      "t", 0, [&](const auto& record) { seen += *record.value; }, 1)
                  .ok());
  EXPECT_EQ(seen, "bc");
  EXPECT_EQ(reader.read("missing", 0, [](const auto&) {}).error,
            broker_errc::unknown_topic_or_partition);
}

// What a reader makes of partition 0, or why it could not.
std::string read_values(const loopback_cluster& cluster) {
  log_reader reader{cluster.bootstrap()};
  std::string seen;
  const auto end =
      reader.read("t", 0, [&](const log_record& record) { seen += *record.value + " "; });
  return end.ok() ? seen : end.text;
}

void produce_one(const loopback_cluster& cluster) {
  constexpr std::int16_t known_to_all = 8;
  blocking_client client{std::chrono::seconds{30}};
  ASSERT_TRUE(client.connect("127.0.0.1", cluster.port(1)).ok());
  wire::produce_response answer;
  const auto end = produce(client, batch_now(0, {"a"}), answer, known_to_all);
  ASSERT_TRUE(end.ok()) << end.text;
}

TEST(LoopbackCluster, ALogReaderReadsFromEveryVersionThatIsEmulated) {
  for (const auto version : {emulation::kafka_2_4, emulation::kafka_3_9, emulation::kafka_4_2,
                             emulation::kafka_4_4, emulation::kafka_4_5}) {
    auto options = one_topic();
    options.version = version;
    loopback_cluster cluster{options};
    produce_one(cluster);
    EXPECT_EQ(read_values(cluster), "a ") << static_cast<int>(version);
    topic_description told;
    EXPECT_TRUE(log_reader{cluster.bootstrap()}.describe("t", told).ok());
    EXPECT_EQ(told.may_be_written, true);
  }
}

TEST(LoopbackCluster, ALogReaderReadsFromTheOldestBrokersOfToday) {
  loopback_cluster cluster{one_topic()};
  // As Kafka 2.1 offers them.
  cluster.offer(api::fetch, 0, 10);
  cluster.offer(api::list_offsets, 0, 4);
  cluster.offer(api::metadata, 0, 7);
  cluster.offer(api::api_versions, 0, 2);
  produce_one(cluster);
  EXPECT_EQ(read_values(cluster), "a ");
  topic_description told;
  EXPECT_TRUE(log_reader{cluster.bootstrap()}.describe("t", told).ok());
  EXPECT_EQ(told.may_be_written, std::nullopt);
}

TEST(LoopbackCluster, ALogReaderSaysWhatABrokerDoesNotServe) {
  loopback_cluster cluster{one_topic()};
  produce_one(cluster);
  cluster.offer(api::fetch, 13, 18);
  EXPECT_EQ(read_values(cluster), "the broker does not serve Fetch in any version from 4 to 12");
  cluster.offer(api::list_offsets, 1, 0);
  EXPECT_EQ(log_reader{cluster.bootstrap()}.read("t", 0, [](const auto&) {}).error,
            client_errc::unsupported_version);
}

TEST(LoopbackCluster, AnInjectedCloseReachesTheClient) {
  loopback_cluster cluster{one_topic()};
  blocking_client client{std::chrono::seconds{30}};
  ASSERT_TRUE(client.connect("127.0.0.1", cluster.port(1)).ok());
  fault lost;
  lost.reply = reply::close_before;
  cluster.inject(lost);
  wire::produce_response answer;
  EXPECT_EQ(produce(client, batch_now(0, {"a"}), answer).error, client_errc::connection_closed);
  EXPECT_EQ(cluster.log("t", 0).size(), 1U);
}

TEST(LoopbackCluster, AnAnswerThatIsCutToNothingHoldsUpNobody) {
  loopback_cluster cluster{one_topic()};
  fault cut;
  cut.times = 1;
  cut.reply = reply::cut_answer;
  cut.cut_at = 0;
  cluster.inject(cut);
  blocking_client client{std::chrono::seconds{30}};
  ASSERT_TRUE(client.connect("127.0.0.1", cluster.port(1)).ok());
  wire::produce_response answer;
  EXPECT_EQ(produce(client, batch_now(0, {"a"}), answer).error, client_errc::connection_closed);
  ASSERT_TRUE(client.connect("127.0.0.1", cluster.port(1)).ok());
  const auto end = produce(client, batch_now(1, {"b"}), answer);
  EXPECT_TRUE(end.ok()) << end.text;
}

TEST(LoopbackCluster, AStoppedBrokerRefusesAndAStartedOneServesOnItsPort) {
  loopback_cluster cluster{one_topic()};
  const auto port = cluster.port(1);
  blocking_client client{std::chrono::seconds{30}};
  ASSERT_TRUE(client.connect("127.0.0.1", port).ok());
  cluster.stop_broker(1);
  wire::produce_response answer;
  EXPECT_EQ(blocking_client{std::chrono::seconds{30}}.connect("127.0.0.1", port).error,
            client_errc::connection_refused);
  EXPECT_FALSE(produce(client, batch_now(0, {"a"}), answer).ok());
  EXPECT_EQ(cluster.view("t", 0)->leader, broker_id{2});
  cluster.start_broker(1);
  ASSERT_TRUE(cluster.move_leader("t", 0, 1));
  ASSERT_TRUE(client.connect("127.0.0.1", port).ok());
  const auto end = produce(client, batch_now(0, {"a"}), answer);
  EXPECT_TRUE(end.ok()) << end.text;
}

TEST(LoopbackCluster, APortInUseIsReported) {
  loopback_cluster first{one_topic()};
  loopback_cluster second{one_topic(), first.port(1)};
  EXPECT_TRUE(second.listening());
}

TEST(LoopbackCluster, AReleasedHoldAnswersAWaitingRequest) {
  loopback_cluster cluster{one_topic()};
  cluster.hold_replication("t", 0, true);
  std::thread release{[&] {
    while (cluster.log("t", 0).empty()) std::this_thread::yield();
    cluster.hold_replication("t", 0, false);
  }};
  blocking_client client{std::chrono::seconds{30}};
  ASSERT_TRUE(client.connect("127.0.0.1", cluster.port(1)).ok());
  wire::produce_response answer;
  const auto end = produce(client, batch_now(0, {"a"}), answer);
  release.join();
  ASSERT_TRUE(end.ok()) << end.text;
  EXPECT_EQ(answer.topics.front().partitions.front().error_code, broker_errc::none);
}

}  // namespace
}  // namespace partita::testing
