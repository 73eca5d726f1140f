// Rows of the fault catalogue on a real broker, behind the proxy that carries out their scripts.
// What must become of the records stands in the catalogue; the broker is Kafka's own.
#include "chaos/fault_proxy.hpp"
#include "integration/foreign_readers.hpp"
#include "integration/kafka_cluster.hpp"

#include <partita/error.hpp>
#include <partita/producer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2min;
const std::string warming = "W";

class real_scenario : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster = std::make_unique<testing::kafka_cluster>(testing::kafka_options{
        .brokers = 1,
        .settings =
            {"auto.create.topics.enable=false", "allow.everyone.if.no.acl.found=true",
             "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
        .proxied = true});
  }
  static void TearDownTestSuite() { cluster.reset(); }

  real_scenario()
      : proxy_({{cluster->proxy_port(1), cluster->proxied_port(1)}}, 1),
        topic_(::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    EXPECT_EQ(proxy_.failure(), "");
    proxy_.script({});
    config_.bootstrap_servers = "127.0.0.1:" + std::to_string(cluster->proxy_port(1));
    config_.on_failure = failure_policy::halt_partition;
  }

  /// A topic, and a record in each of its partitions: the broker knows the producer, which may have
  /// several batches in flight.
  void start(int partitions = 1) {
    cluster->create_topic(topic_, partitions, 1);
    if (!readable_) deny_reading();
    producer_.emplace(config_);
    for (int index = 0; index < partitions; ++index) warm(index);
    warmed_ = proxy_.answers_so_far().size();
  }

  /// A busy machine may need longer than a short deadline.
  void warm(int partition) {
    for (int i = 0; i < 30; ++i) {
      auto first = produce(warming, partition);
      const outcome answer = answer_of(first);
      if (answer.is_delivered()) return bases_.push_back(answer.delivery()->offset->value);
      producer_->recover(topic_, partition, recovery::discard).get();
    }
    FAIL() << "the broker takes no record";
  }

  std::future<outcome> produce(const std::string& value, int partition = 0) {
    const record what{
        .topic = topic_, .key = {}, .value = value, .headers = {}, .partition = partition};
    auto promise = std::make_shared<std::promise<outcome>>();
    producer_->produce(what, [promise](const outcome& answer) { promise->set_value(answer); });
    return promise->get_future();
  }

  outcome answer_of(std::future<outcome>& awaited) {
    if (awaited.wait_for(patience) == std::future_status::ready) return awaited.get();
    ADD_FAILURE() << "no outcome";
    return failed{};
  }

  /// The broker wrote that many batches since start().
  void await_stored(int batches) {
    const bool stored = proxy_.await_answers([&](const fault_proxy::answers& said) {
      return batches <= std::count_if(said.begin() + static_cast<std::ptrdiff_t>(warmed_),
                                      said.end(), [](const produce_answer& each) {
                                        return each.code == broker_errc::none;
                                      });
    });
    ASSERT_TRUE(stored);
  }

  /// So many offsets behind the record of start().
  void expect_delivered(std::future<outcome>& awaited, int partition, std::int64_t behind) {
    const outcome answer = answer_of(awaited);
    ASSERT_TRUE(answer.is_delivered()) << answer.failure()->code.message();
    EXPECT_EQ(answer.delivery()->partition, partition_id(partition));
    EXPECT_EQ(answer.delivery()->offset,
              offset(bases_[static_cast<std::size_t>(partition)] + behind));
  }

  void restart_broker() {
    cluster->stop_broker(1);
    cluster->restart_broker(1);
  }

  /// A and B are stored, and the broker has ended and forgotten A, before either is answered.
  std::pair<std::future<outcome>, std::future<outcome>> restart_with_two_in_doubt() {
    proxy_.script({{.fault = frame_fault::mute}});
    auto a = produce("A");
    await_stored(1);
    auto b = produce("B");
    await_stored(2);
    EXPECT_FALSE(has_answer(a) || has_answer(b));
    restart_broker();
    return {std::move(a), std::move(b)};
  }

  /// What was written to a partition since start(), in its order, by a client that is not ours.
  std::string log(int partition = 0) {
    if (!readable_) allow_reading();
    std::string values;
    for (const testing::foreign_record& each : testing::kcat_read(cluster->bootstrap(), topic_))
      if (each.partition == partition && each.value != warming)
        values += (values.empty() ? "" : " ") + *each.value;
    return values;
  }

  std::uint32_t epoch_bumps() {
    std::uint32_t bumps = 0;
    for (const partition_status& each : producer_->status().get().partitions)
      bumps += each.epoch_bumps;
    return bumps;
  }

  bool has_answer(const std::future<outcome>& awaited) {
    return awaited.wait_for(0s) == std::future_status::ready;
  }

  /// The broker had forgotten A, and said so to its retry.
  void expect_refused_as_out_of_order(int partition) {
    const fault_proxy::answers said = proxy_.answers_so_far();
    EXPECT_TRUE(std::any_of(said.begin(), said.end(), [&](const produce_answer& each) {
      return each.partition == partition_id(partition) &&
             each.code == broker_errc::out_of_order_sequence_number;
    })) << partition;
  }

  /// A is given up in doubt after `first`; the settlement comes once B was written.
  settlement settle_after(frame_fault first) {
    config_.delivery_timeout = 4s;
    config_.request_timeout = 1s;
    config_.max_block = 4s;
    start();
    proxy_.script({{.fault = first}},
                  {.fault = frame_fault::error_instead, .code = broker_errc::not_enough_replicas});
    auto a = produce("A");
    if (first == frame_fault::mute) await_stored(1);
    const outcome answer = answer_of(a);
    EXPECT_FALSE(answer.is_delivered());
    if (answer.is_delivered()) return *answer.delivery();
    EXPECT_EQ(answer.failure()->fate, fate::unknown);
    auto promise = std::make_shared<std::promise<settlement>>();
    auto pending = promise->get_future();
    producer_->settle(answer.failure()->ticket).then([promise](const settlement& said) {
      promise->set_value(said);
    });
    producer_->recover(topic_, 0, recovery::discard).get();
    decided_before_ = pending.wait_for(0s) == std::future_status::ready;
    proxy_.script({});
    auto b = produce("B");
    EXPECT_TRUE(answer_of(b).is_delivered());
    if (pending.wait_for(patience) == std::future_status::ready) return pending.get();
    ADD_FAILURE() << "not settled";
    return undecidable{};
  }

  static std::unique_ptr<testing::kafka_cluster> cluster;
  fault_proxy proxy_;
  const std::string topic_;
  bool readable_ = true;
  producer_config config_;
  std::optional<producer> producer_;
  std::size_t warmed_ = 0;           // answers that start() got
  std::vector<std::int64_t> bases_;  // where its records lie
  bool decided_before_ = false;      // A, before B was produced

 private:
  void deny_reading() {
    cluster->control(
        "acls --add --allow-principal User:ANONYMOUS --operation Write "
        "--operation Describe --topic " +
        topic_);
    await_reading(false);
  }
  void allow_reading() {
    cluster->control("acls --remove --force --topic " + topic_);
    await_reading(true);
  }
  void await_reading(bool allowed) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (allowed != (testing::run_command("timeout 60 kcat -C -q -e -o beginning -b " +
                                            cluster->bootstrap() + " -t " + topic_ + " 2>&1")
                           .exit_code == 0)) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit);
      std::this_thread::sleep_for(20ms);
    }
  }
};

std::unique_ptr<testing::kafka_cluster> real_scenario::cluster;

// SEQ-20: a clean restart leaves the broker with the last batch of each producer. Measured of other
// clients: they store A B A B.

TEST_F(real_scenario, seq_20_restart_two_in_doubt) {
  start();
  auto [a, b] = restart_with_two_in_doubt();
  expect_delivered(a, 0, 1);
  expect_delivered(b, 0, 2);
  EXPECT_EQ(epoch_bumps(), 0U) << "nothing is renumbered";
  expect_refused_as_out_of_order(0);
  EXPECT_EQ(log(), "A B");
}

TEST_F(real_scenario, seq_20_restart_two_in_doubt_a) {
  start(3);
  proxy_.script({{.fault = frame_fault::mute}});
  std::vector<std::future<outcome>> a, b;
  for (int index = 0; index < 3; ++index) a.push_back(produce("A", index));
  await_stored(3);
  for (int index = 0; index < 3; ++index) b.push_back(produce("B", index));
  await_stored(6);
  restart_broker();
  for (int index = 0; index < 3; ++index) {
    expect_delivered(a[static_cast<std::size_t>(index)], index, 1);
    expect_delivered(b[static_cast<std::size_t>(index)], index, 2);
    expect_refused_as_out_of_order(index);
    EXPECT_EQ(log(index), "A B") << index;
  }
  EXPECT_EQ(epoch_bumps(), 0U) << "nothing is renumbered";
}

TEST_F(real_scenario, seq_20_restart_two_in_doubt_c) {
  readable_ = false;
  config_.on_failure = failure_policy::skip;
  start();
  auto [a, b] = restart_with_two_in_doubt();
  const outcome answer = answer_of(a);
  ASSERT_FALSE(answer.is_delivered());
  EXPECT_EQ(answer.failure()->fate, fate::unknown);
  EXPECT_EQ(answer.failure()->cause, client_errc::log_not_readable);
  const outcome next = answer_of(b);
  EXPECT_TRUE(next.is_delivered() || next.failure()->fate == fate::unknown);
  expect_refused_as_out_of_order(0);
  EXPECT_EQ(log(), "A B");
}

// TIME-24: an unknown outcome is settled later, by evidence only.

TEST_F(real_scenario, time_24_settle_unknown_a) {
  const settlement verdict = settle_after(frame_fault::mute);
  ASSERT_TRUE(verdict.is_delivered());
  EXPECT_EQ(verdict.delivery()->partition, partition_id(0));
  EXPECT_EQ(verdict.delivery()->offset, offset(bases_[0] + 1));
  EXPECT_EQ(log(), "A B");
}

TEST_F(real_scenario, time_24_settle_unknown_b) {
  const settlement verdict = settle_after(frame_fault::swallow);
  EXPECT_FALSE(decided_before_) << "nothing shuts a latecomer out yet";
  EXPECT_TRUE(verdict.is_never_written());
  EXPECT_EQ(log(), "B");
}

TEST_F(real_scenario, time_24_settle_unknown_c) {
  readable_ = false;
  const settlement verdict = settle_after(frame_fault::mute);
  ASSERT_NE(verdict.undecided(), nullptr);
  EXPECT_EQ(verdict.undecided()->reason, client_errc::log_not_readable);
  EXPECT_EQ(log(), "A B");
}

}  // namespace
}  // namespace partita::chaos
