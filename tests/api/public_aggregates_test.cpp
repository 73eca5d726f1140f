// Applications compile with -Wextra, which warns of members that a designated initialiser leaves
// out unless they have an initialiser of their own. Here such a warning is an error.
#pragma GCC diagnostic error "-Wmissing-field-initializers"

#include <partita/config.hpp>
#include <partita/control.hpp>
#include <partita/outcome.hpp>
#include <partita/partitioner.hpp>
#include <partita/produce_options.hpp>
#include <partita/producer.hpp>
#include <partita/properties.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>
#include <partita/settlement.hpp>
#include <partita/status.hpp>
#include <partita/testing/api_fault.hpp>
#include <partita/testing/attempt.hpp>
#include <partita/testing/checker.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/fault.hpp>
#include <partita/testing/log_reader.hpp>
#include <partita/testing/mock_producer.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(PublicAggregates, OneMemberIsEnoughOfWhatIsHandedIn) {
  const record sent{.topic = "t"};
  EXPECT_FALSE(sent.key || sent.value || sent.partition || sent.timestamp);
  const record stamped{
      .topic = "t",
      .timestamp = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())};
  EXPECT_TRUE(stamped.timestamp);
  EXPECT_FALSE(header{.key = "k"}.value);
  EXPECT_TRUE(produce_options{.delivery_timeout = std::chrono::seconds(1)}.any());
  EXPECT_FALSE(recover_options{.allow_duplicates = false}.allow_duplicates);
  EXPECT_EQ((producer_config{.bootstrap_servers = "h:1"}).client_id, "partita");
  EXPECT_FALSE(topic_config{.on_failure = {}}.on_failure);
}

TEST(PublicAggregates, OneMemberIsEnoughOfWhatIsHandedOut) {
  EXPECT_FALSE((owned_record{.topic = "t"}).partition.known());
  EXPECT_FALSE((owned_header{.key = "k"}).value);
  EXPECT_FALSE((delivered{.partition = 1}).offset);
  EXPECT_EQ((failed{.code = client_errc::closed}).fate, fate::unknown) << "no certainty by default";
  EXPECT_EQ((tally{.delivered = 1}).total(), 1U);
  EXPECT_EQ((close_report{.answered = {}}).unsent.size(), 0U);
  EXPECT_EQ((recovery_report{.was_halted = true}).taken.size(), 0U);
  EXPECT_FALSE((undecidable{.reason = client_errc::closed}).cause);
  EXPECT_EQ((partition_status{.topic = "t"}).state, partition_state::normal);
  EXPECT_EQ((broker_status{.id = 1}).port, 0);
  EXPECT_EQ((producer_status{.buffered_bytes = 1}).brokers.size(), 0U);
  EXPECT_EQ((halted_key_status{.key = "k"}).cause, std::error_code());
  EXPECT_EQ((partition_event{.topic = "t"}).count, 0U);
  EXPECT_EQ((delivery_report{.topic = "t"}).outcomes.size(), 0U);
  EXPECT_EQ((produce_request{.first_tag = 1}).records.size(), 0U);
  EXPECT_EQ((recover_request{.key = "k"}).how, recovery::resubmit);
  EXPECT_EQ((config_entry{.key = "k"}).value, "");
  EXPECT_EQ((config_origin{.key = "k"}).alias, "");
  EXPECT_EQ((config_error{.key = "k"}).value, "");
}

TEST(PublicAggregates, OneMemberIsEnoughOfTheTestingComponent) {
  using namespace testing;
  EXPECT_EQ((topic_options{.partitions = 2}).replication, -1);
  EXPECT_EQ((cluster_options{.brokers = 1}).seed, 1U);
  EXPECT_EQ((log_record{.key = "k"}).headers.size(), 0U);
  EXPECT_EQ((log_batch{.record_count = 1}).attributes, 0);
  EXPECT_EQ((produced_record{.order = 1}).answers.size(), 0U);
  EXPECT_EQ((partition_history{.topic = "t"}).log.size(), 0U);
  EXPECT_EQ((anomaly{.topic = "t"}).order, 0U);
  EXPECT_TRUE((read_end{.text = "t"}).ok());
  EXPECT_EQ((fault{.topic = "t"}).times, 1);
  EXPECT_EQ((api_fault{.topic = "t"}).times, 1);
  EXPECT_EQ((fault_mix{.delay = 1}).refuse, 0);
  EXPECT_EQ((attempt_result{.number = 1}).appended, false);
  EXPECT_EQ((mock_options{.partitions = 2}).on_failure, producer_config{}.on_failure);
  EXPECT_FALSE((mock_record{.record = {}}).answer);
  EXPECT_EQ((simulated_producer_options{.lanes = 2}).seed, 1U);
  EXPECT_EQ((link_options{.split = 0}).disconnect, 0);
}

}  // namespace
}  // namespace partita
