// Three real brokers behind a fault proxy, killed, stopped, cut off, and a topic that is deleted,
// while applications produce, pause, recover and settle what is unknown. Then kcat reads the log
// and it is compared with everything that was said.
//
// PARTITA_CHAOS_SECONDS says how long (120), PARTITA_CHAOS_SEED which faults.
#include "chaos/chaos_history.hpp"
#include "chaos/chaos_load.hpp"
#include "chaos/fault_proxy.hpp"
#include "integration/foreign_readers.hpp"
#include "integration/kafka_cluster.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

constexpr int brokers = 3;
constexpr int faults_per_mille = 20;
/// What lasts, and what is deleted now and then.
const std::vector<std::string> lasting = {"orders", "payments"};
const std::string doomed = "doomed";

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr && *given != '\0' ? std::strtoull(given, nullptr, 10) : otherwise;
}

class chaos : public ::testing::Test {
 protected:
  chaos()
      : cluster_({.brokers = brokers,
                  .settings = {"min.insync.replicas=2", "auto.create.topics.enable=false",
                               "leader.imbalance.check.interval.seconds=3",
                               "leader.imbalance.per.broker.percentage=0"},
                  .proxied = true}),
        proxy_(routes(), seed_) {}

  std::vector<proxy_route> routes() const {
    std::vector<proxy_route> made;
    for (int id = 1; id <= brokers; ++id)
      made.push_back({cluster_.proxy_port(id), cluster_.proxied_port(id)});
    return made;
  }

  std::string bootstrap() const {
    std::string servers;
    for (int id = 1; id <= brokers; ++id)
      servers += (id > 1 ? "," : "") + ("127.0.0.1:" + std::to_string(cluster_.proxy_port(id)));
    return servers;
  }

  milliseconds some(int least, int most) {
    return milliseconds(least + static_cast<int>(random_() % static_cast<unsigned>(most - least)));
  }

  void say(const std::string& text) const {
    const auto since = std::chrono::duration<double>(steady::now() - begin_).count();
    std::printf("%7.1f s  %s\n", since, text.c_str());
    std::fflush(stdout);
  }

  void start_loads() {
    const auto start = [this](const char* name, failure_policy policy, milliseconds deadline,
                              std::vector<std::string> topics, int partitions) {
      loads_.push_back(std::make_unique<chaos_load>(
          load_options{bootstrap(), name, policy, std::move(topics), partitions, 20, deadline,
                       seed_ * 31 + loads_.size()},
          history_));
    };
    start("patient", failure_policy::halt_partition, 20s, lasting, 6);
    start("hasty", failure_policy::halt_partition, 1500ms, lasting, 6);
    start("skipping", failure_policy::skip, 2500ms, lasting, 6);
    start("doomed", failure_policy::halt_partition, 3s, {doomed}, 3);
  }

  /// One thing that happens to brokers. It is over when the call returns, but for a restart and a
  /// topic's deletion: they take as long as a Java machine does, and the rest goes on meanwhile.
  void trouble() {
    const int id = 1 + static_cast<int>(random_() % brokers);
    const auto index = static_cast<std::size_t>(id - 1);
    const std::string broker = "broker " + std::to_string(id);
    switch (random_() % 6) {
      case 0:
        if (!restarted()) return cut(index);
        say("kill -9 " + broker);
        cluster_.kill_broker(id);
        ++kills_;
        return restart_after(id, some(200, 6000));
      case 1:
        if (!restarted()) return cut(index);
        say("restart " + broker);
        cluster_.stop_broker(id);
        ++restarts_;
        return restart_after(id, 0ms);
      case 2:
        if (id == down_) return cut(index);
        say("stop " + broker + " (SIGSTOP)");
        cluster_.pause_broker(id);
        std::this_thread::sleep_for(some(200, 8000));
        cluster_.continue_broker(id);
        ++stops_;
        return say(broker + " goes on");
      case 3:
        say("cut the connections to " + broker);
        return cut(index);
      case 4:
        say("no way to " + broker);
        proxy_.admit(index, false);
        cut(index);
        std::this_thread::sleep_for(some(200, 5000));
        ++closures_;
        return proxy_.admit(index, true);
      default:
        if (!recreated()) return cut(index);
        say("delete topic " + doomed);
        ++deletions_;
        recreation_ = std::async(std::launch::async,
                                 [this, pause = some(0, 2000)] { recreate_doomed(pause); });
    }
  }

  void cut(std::size_t index) {
    ++cuts_;
    proxy_.cut(index);
  }

  /// True when no broker is down: two of three have to be there, or nothing can be written.
  bool restarted() {
    if (!restart_.valid()) return true;
    if (restart_.wait_for(0s) != std::future_status::ready) return false;
    restart_.get();
    say("broker " + std::to_string(std::exchange(down_, 0)) + " is back");
    return true;
  }

  void restart_after(int id, milliseconds pause) {
    down_ = id;
    restart_ = std::async(std::launch::async, [this, id, pause] {
      std::this_thread::sleep_for(pause);
      cluster_.restart_broker(id);
    });
  }

  bool recreated() {
    if (!recreation_.valid()) return true;
    if (recreation_.wait_for(0s) != std::future_status::ready) return false;
    recreation_.get();
    say("topic " + doomed + " is there again");
    return true;
  }

  void recreate_doomed(milliseconds pause) {
    history_.forget_topic(doomed);
    insist("topics --delete --if-exists --topic " + doomed);
    history_.forget_topic(doomed);
    std::this_thread::sleep_for(pause);
    insist("topics --create --if-not-exists --partitions 3 --replication-factor 3 --topic " +
           doomed);
    history_.forget_topic(doomed);
  }

  /// Kafka's tools give up while brokers come and go.
  void insist(const std::string& command) {
    for (int i = 0; i < 20; ++i)
      if (cluster_.attempt(command)) return;
    ADD_FAILURE() << command;
  }

  void run() {
    const auto seconds = std::chrono::seconds(number_from("PARTITA_CHAOS_SECONDS", 120));
    for (const std::string& topic : lasting) cluster_.create_topic(topic, 6, 3);
    cluster_.create_topic(doomed, 3, 3);
    begin_ = steady::now();
    say("seed " + std::to_string(seed_) + ", " + std::to_string(seconds.count()) + " s");
    start_loads();
    proxy_.set_rate(faults_per_mille);
    while (steady::now() < begin_ + seconds) {
      std::this_thread::sleep_for(some(200, 3000));
      trouble();
      if (HasFatalFailure()) return;
    }
    say("the faults end");
    if (restart_.valid()) restart_.wait();
    restarted();
    if (recreation_.valid()) recreation_.wait();
    recreated();
    proxy_.quiet();
    for (const auto& load : loads_) load->finish();
    proxy_.quiet();
  }

  void tell() const {
    const chaos_counts counts = history_.counts();
    std::printf(
        "%llu records: %llu delivered, %llu not written, %llu unknown, %llu submitted again\n"
        "  of the unknown ones: %llu settled as delivered, %llu as never written, %llu not at "
        "all\n",
        (unsigned long long)counts.produced, (unsigned long long)counts.delivered,
        (unsigned long long)counts.not_written, (unsigned long long)counts.unknown,
        (unsigned long long)counts.resubmitted, (unsigned long long)counts.settled_delivered,
        (unsigned long long)counts.settled_never_written, (unsigned long long)counts.unsettled);
    for (const auto& [reason, count] : counts.undecidable)
      std::printf("  %llu undecidable: %s\n", (unsigned long long)count, reason.c_str());
    for (std::size_t i = 0; i < frame_faults; ++i)
      std::printf("  %-14s %8llu frames\n", std::string(name(static_cast<frame_fault>(i))).c_str(),
                  (unsigned long long)proxy_.count(static_cast<frame_fault>(i)));
    std::printf(
        "  %d kills, %d clean restarts, %d stops, %d cuts of all connections, %d times no way, "
        "%d deletions\n",
        kills_, restarts_, stops_, cuts_, closures_, deletions_);
    for (const auto& load : loads_)
      std::printf("  %s: %s\n", load->name().c_str(), load->activity().c_str());
  }

  const std::uint64_t seed_ = number_from("PARTITA_CHAOS_SEED", std::random_device{}());
  std::mt19937_64 random_{seed_};
  steady::time_point begin_ = steady::now();
  testing::kafka_cluster cluster_;
  fault_proxy proxy_;
  chaos_history history_;
  std::vector<std::unique_ptr<chaos_load>> loads_;
  std::future<void> restart_;
  std::future<void> recreation_;
  int down_ = 0;  // the broker that is being restarted
  int kills_ = 0;
  int restarts_ = 0;
  int stops_ = 0;
  int cuts_ = 0;
  int closures_ = 0;
  int deletions_ = 0;
};

TEST_F(chaos, EveryOutcomeIsTrueAndNoRecordOvertakes) {
  ASSERT_EQ(proxy_.failure(), "");
  run();
  std::map<std::string, std::vector<testing::foreign_record>> logs;
  for (const std::string& topic : {lasting[0], lasting[1], doomed})
    logs[topic] = testing::kcat_read(cluster_.bootstrap(), topic);
  tell();

  const chaos_counts counts = history_.counts();
  EXPECT_EQ(counts.unanswered, 0U);
  EXPECT_GT(counts.delivered, 1000U);
  for (const std::string& anomaly : history_.anomalies(logs)) ADD_FAILURE() << anomaly;
  for (const auto& load : loads_) {
    EXPECT_EQ(load->contradictions(), 0U);
    EXPECT_EQ(load->strangers(), 0U);
    EXPECT_TRUE(load->all_settled()) << load->name();
  }
  std::printf("seed %llu: %s\n", (unsigned long long)seed_,
              HasFailure() ? "ANOMALIES" : "the log agrees with every outcome");
}

}  // namespace
}  // namespace partita::chaos
