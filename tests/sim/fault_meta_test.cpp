// META: partitions, rights, routes.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace partita::testing {
namespace {

SCENARIO_TIMED(fault_meta, meta_11_metadata_from_the_living) {
  s.start();
  s.move(1, 3);  // the client must ask somebody
  const auto silent = static_cast<std::int32_t>(1 + s.draws().below(2));
  s.silent(silent);
  s.produce("A@p1");
  s.right("A=D, log(p1)=A");
  EXPECT_LE(s.took("A"), 5s);
}

void meta_15(stage& s) {
  s.produce("A@p0 M@p-7 B@p0 T@p3 C@p0 L@p2147483647 D@p0");
  s.right("A=D, B=D, C=D, D=D, M=N, T=N, L=N, log=A B C D");
  for (const char* each : {"M", "T", "L"}) EXPECT_EQ(s.code(each), client_errc::invalid_partition);
}
SCENARIO(fault_meta, meta_15_bad_explicit_partition_warm) { meta_15(s); }
SCENARIO(fault_meta, meta_15_bad_explicit_partition_cold) {
  s.cold();
  meta_15(s);
}

void meta_18(stage& s, int partitions, std::chrono::milliseconds linger, int batch) {
  topic_options topic;
  topic.partitions = partitions;
  s.set_cluster().topics["even"] = topic;
  s.set().partitioner = partitioner_kind::round_robin;
  s.set().linger = linger;
  s.set().batch_records_max = batch;
  produce_how how;
  how.topic = "even";
  how.assigned = false;
  const int count = 10 * partitions;
  for (int i = 0; i < count; ++i) s.produce("r" + std::to_string(i), how);
  s.await_all();
  for (int p = 0; p < partitions; ++p) {
    const auto share = static_cast<int>(s.cluster().log("even", p).size());
    EXPECT_GE(share, 9) << "p" << p;
    EXPECT_LE(share, 11) << "p" << p;
  }
}
SCENARIO_SEEDS(fault_meta, meta_18_round_robin_skips_half_2, 10) { meta_18(s, 2, 0ms, 1); }
SCENARIO_SEEDS(fault_meta, meta_18_round_robin_skips_half_4, 10) { meta_18(s, 4, 5ms, 100); }
SCENARIO_SEEDS(fault_meta, meta_18_round_robin_skips_half_6, 10) { meta_18(s, 6, 5ms, 1); }

SCENARIO_TIMED(fault_meta, meta_21_acl_removed_and_restored) {
  s.set_cluster().topics["u"].partitions = 1;
  s.start();
  s.cluster().deny(right::write, "t");
  s.produce("A");
  s.produce("X", {.topic = "u"});
  s.right("A=N, X=D");
  EXPECT_EQ(s.code("A"), broker_errc::topic_authorization_failed);
  EXPECT_EQ(s.status().state, partition_state::halted);
  s.cluster().allow(right::write, "t");
  const recovery_report report = s.recover(recovery::resubmit);
  ASSERT_EQ(report.resubmitted.size(), 1U);
  EXPECT_TRUE(report.resubmitted.front().answer.is_delivered());
  s.right("log=A");
}

// Brokers 1 and 2 behind one port forwarder, which serves its connections by each in turn.
SCENARIO_TIMED(fault_meta, meta_16_broker_is_its_id_a) {
  s.set_cluster().hosts = {{1, "forwarder"}, {2, "forwarder"}};
  s.set().bootstrap_servers = "broker-3:9092";
  s.cold();
  s.produce("A");
  s.right("A=D");
  s.produce("B@p1");
  s.right("B=D");
  s.produce("C D@p1");
  s.right("C=D, D=D, log=A C, log(p1)=B D");
  for (const char* name : {"A", "C"}) {
    EXPECT_EQ(s.attempts(name).back().broker, 1);
    EXPECT_EQ(s.attempts(name).back().connection, s.attempts("A").back().connection);
  }
  for (const char* name : {"B", "D"}) {
    EXPECT_EQ(s.attempts(name).back().broker, 2);
    EXPECT_EQ(s.attempts(name).back().connection, s.attempts("B").back().connection);
  }
  std::set<std::int32_t> ids;
  for (const broker_status& each : s.whole_status().brokers)
    if (each.host == "forwarder" && each.connected) ids.insert(each.id.value);
  EXPECT_EQ(ids, (std::set<std::int32_t>{1, 2}));
}

}  // namespace
}  // namespace partita::testing
