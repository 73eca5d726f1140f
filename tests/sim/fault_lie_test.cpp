// LIE: what the application is told.
#include "tests/sim/stage.hpp"

#include <partita/properties.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

SCENARIO_TIMED(fault_lie, lie_01_flush_tells_the_truth_a) {
  s.set().on_failure = failure_policy::skip;
  s.broker("A#n ->stuck, B#n ->19");
  s.start();
  s.produce("A@p0 B@p1 C@p2");
  const tally told = s.flush();
  EXPECT_EQ(told, (tally{1, 1, 1}));
  EXPECT_FALSE(told.all_delivered());
  s.right("A=U, B=N, C=D");
}
SCENARIO_TIMED(fault_lie, lie_01_flush_tells_the_truth_b) {
  s.set().metadata_max_age = 1s;
  s.start();
  metadata_lie gone;
  gone.topic = "t";
  gone.partition_count = 0;
  s.refuse_all();
  s.produce("A");
  s.cluster().inject(gone);
  s.ok_all();
  const tally told = s.flush();
  EXPECT_EQ(told.total(), 1U);
  EXPECT_EQ(told.all_delivered(), s.letter("A") == "D");
}

static_assert(!std::is_default_constructible_v<outcome>);

SCENARIO_TIMED(fault_lie, lie_02_no_default_success_a) {
  s.broker("A#n ->stuck");
  s.produce("A");
  s.when("A#1 seen");
  s.cut(1);
  s.right("A=U");
}
SCENARIO_TIMED(fault_lie, lie_02_no_default_success_b) {
  s.broker("A#n ->stuck");
  s.produce("A");
  s.when("A#1 seen");
  s.destroy();
  s.right("A=U");
}
SCENARIO_TIMED(fault_lie, lie_02_no_default_success_c) {
  s.broker("A#n ->stuck");
  s.produce("B@p1", {.then = [](const outcome&) { throw std::runtime_error("a hook"); }});
  s.produce("A");
  s.right("B=D, A=U");
  EXPECT_EQ(s.whole_status().callback_exceptions, 1U);
}
SCENARIO_TIMED(fault_lie, lie_02_no_default_success_d) {
  s.broker("A#n ->garbage");
  s.produce("A");
  s.right("A=U");
}

SCENARIO(fault_lie, lie_03_no_invented_numbers) {
  s.set().on_failure = failure_policy::skip;
  s.broker("A#1 +>cut, A#2 ->46, N#1 ->87");
  s.produce("A@p0 N@p1");
  s.right("A=D, N=N");
  EXPECT_FALSE(s.delivery("A").offset.has_value());
  EXPECT_EQ(s.failure("N").ticket.value, 0U);
}
static_assert(std::is_same_v<decltype(delivered::offset), std::optional<partita::offset>>);

SCENARIO(fault_lie, lie_05_local_or_broker) {
  s.set().on_failure = failure_policy::skip;
  s.broker("B#1 ->10");
  s.produce("A", {.padding = 2'000'000});
  s.produce("B");
  s.right("A=N, B=N");
  EXPECT_EQ(s.code("A"), client_errc::record_too_large);
  EXPECT_EQ(s.code("B"), broker_errc::message_too_large);
}

void lie_06_id(stage& s, broker_errc code) {
  s.cold();
  api_fault refused;
  refused.api = api::init_producer_id;
  refused.code = code;
  refused.times = always;
  s.cluster().inject(refused);
  s.produce("A");
  s.right("A=N");
  EXPECT_TRUE(s.code("A") == code || s.failure("A").cause == code) << s.code("A").message();
}
SCENARIO(fault_lie, lie_06_refusals_explained_id_31) {
  lie_06_id(s, broker_errc::cluster_authorization_failed);
}
SCENARIO(fault_lie, lie_06_refusals_explained_id_53) {
  lie_06_id(s, broker_errc::transactional_id_authorization_failed);
}
SCENARIO(fault_lie, lie_06_refusals_explained_produce) {
  s.start();
  s.cluster().deny(right::write, "t");
  s.produce("A");
  s.right("A=N, log=");
  EXPECT_EQ(s.code("A"), broker_errc::topic_authorization_failed);
  EXPECT_EQ(s.failure("A").topic, "t");
  s.cluster().allow(right::write, "t");
}

SCENARIO_TIMED(fault_lie, lie_07_moved_then_expired) {
  s.late_frames_allowed();
  s.start();
  s.cluster().hold_replication("t", 0, true);
  s.broker("A#1 +>6");
  s.produce("A");
  s.when("A#1 stored");
  s.cluster().hold_replication("t", 0, false);
  s.move(0, 2);
  s.silent(2);
  s.right("A=U");
  EXPECT_GE(s.took("A"), 10s);
}

void acks_none(stage& s) {
  s.set().acks = acks::none;
  s.set().enable_idempotence = false;
  s.set().on_failure = failure_policy::skip;
}
SCENARIO(fault_lie, lie_08_acks_zero_a) {
  acks_none(s);
  s.produce("A");
  s.right("A=U");
  EXPECT_EQ(s.code("A"), client_errc::no_acknowledgement);
  s.until([&s] { return !s.attempts("A").empty(); });
}
SCENARIO(fault_lie, lie_08_acks_zero_b) {
  acks_none(s);
  s.broker("A#1 ->29");
  s.produce("A");
  s.right("A=U");
  EXPECT_EQ(s.code("A"), client_errc::no_acknowledgement);
  s.until([&s] { return !s.attempts("A").empty(); });
  s.produce("B");
  s.right("B=U");
}

struct heard {
  stage* where;
  std::vector<std::pair<std::chrono::nanoseconds, std::string>> lines;
};

SCENARIO_SEEDS(fault_lie, lie_09_early_noise, 5) {
  heard log{&s, {}};
  s.cold();
  s.set().delivery_timeout = 2min;
  s.set().log_context = &log;
  s.set().log_level = 5;
  s.set().log = [](void* context, int, std::string_view line) {
    auto* to = static_cast<heard*>(context);
    to->lines.emplace_back(to->where->now(), std::string(line));
  };
  s.start();
  log.lines.clear();
  s.refuse_all();
  const auto begun = s.now();
  s.produce("A");
  s.run(2s);
  ASSERT_FALSE(log.lines.empty()) << "nothing is said";
  EXPECT_LE(log.lines.front().first - begun, 2s);
  EXPECT_NE(s.whole_status().metadata_error, std::error_code{});
  s.run(58s);
  EXPECT_LE(log.lines.size(), 12U) << "one line per kind and broker";
  s.await_all();
  s.destroy();
}

SCENARIO(fault_lie, lie_11_secrets_stay_secret) {
  producer_config config;
  config_report report;
  std::string all;
  for (const char* key : {"sasl.password", "ssl.key.password", "sasl.jaas.config",
                          "ssl.keystore.password", "no.such.key", "sasl.oauthbearer.config"}) {
    const config_error error = apply_property(config, key, "planted-secret", "call", &report);
    all += error.message() + error.value + error.reason + "\n";
  }
  for (const std::string& each : report.notes) all += each + "\n";
  for (const config_entry& each : describe(config, &report)) all += each.key + each.value + "\n";
  EXPECT_EQ(all.find("planted-secret"), std::string::npos) << all;
  s.produce("A");
  s.right("A=D");
}

SCENARIO_TIMED(fault_lie, lie_10_no_silent_downgrade) {
  producer_config config;
  config.bootstrap_servers = "b:9092";
  config.acks = acks::leader;
  EXPECT_NE(validate(config).message().find("acks"), std::string::npos);
  EXPECT_NE(validate(config).message().find("enable.idempotence"), std::string::npos);
  config.acks = acks::all;
  config.max_in_flight = 6;
  EXPECT_NE(validate(config).message().find("max.in.flight"), std::string::npos);
  EXPECT_NE(validate(config).message().find("enable.idempotence"), std::string::npos);
  config.max_in_flight = 5;
  config.retries = 0;
  EXPECT_NE(validate(config).message().find("retries"), std::string::npos);
  EXPECT_NE(validate(config).message().find("enable.idempotence"), std::string::npos);
  config.bootstrap_servers.clear();
  EXPECT_THROW(producer{config}, std::system_error);
}

SCENARIO(fault_lie, lie_13_success_behind_a_failure) {
  s.set().on_failure = failure_policy::skip;
  s.broker("A#1 +>29");
  s.produce("A B");
  s.right("B=D, A=U|D, log=A B");
}

}  // namespace
}  // namespace partita::testing
