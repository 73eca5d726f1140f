#include "peers/fault_scripts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

namespace partita::peers {
namespace {

using namespace std::chrono_literals;
using testing::execution;
using testing::reply;

constexpr std::int64_t day_ms = 86'400'000;
constexpr int ever = 1'000'000;

std::int64_t two_days_ago() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() - 2 * day_ms;
}

bool holds_within(std::chrono::milliseconds longest, const std::function<bool()>& fact) {
  const auto limit = std::chrono::steady_clock::now() + longest;
  while (!fact()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

/// A stored, answered with `code`; then the caller gives it up and produces B.
void give_up_after(stage& on, broker_errc code) {
  on.cluster.inject(on.attempt("A", execution::append, reply::error, code));
  on.produce("A");
  on.faults(1);
  on.cancel("A");
  on.produce("B");
  on.await("B");
}

void core_01(stage& on) { give_up_after(on, broker_errc::request_timed_out); }
void core_02(stage& on) { give_up_after(on, broker_errc::not_enough_replicas_after_append); }

void core_03(stage& on) {
  on.cluster.inject(on.attempt("A", execution::append, reply::error,
                               broker_errc::not_enough_replicas_after_append));
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas));
  on.produce("A");
  on.faults(2);
  on.cancel("A");
  on.produce("B");
  on.await("B");
}

void core_04(stage& on) {
  on.cluster.inject(on.attempt("A", execution::append, reply::close_before));
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas));
  on.produce("A");
  on.faults(2);
  on.cancel("A");
  on.produce("B");
  on.await("B");
}

void core_08(stage& on) {
  on.cluster.inject(
      on.attempt("A", execution::append, reply::error, broker_errc::request_timed_out));
  on.cluster.inject(on.attempt("A", execution::skip, reply::error,
                               broker_errc::topic_authorization_failed, ever));
  on.produce("A");
  on.await("A");
  on.recover();
  on.produce("B");
  on.await("B");
}

void core_13(stage& on) {
  on.cluster.inject(
      on.attempt("A", execution::append, reply::error, broker_errc::request_timed_out));
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas, ever));
  on.produce("A");
  on.await("A");
  on.recover();
  on.produce("B");
  on.await("B");
}

void core_17(stage& on) {
  testing::fault late = on.attempt("A", execution::append, reply::never);
  late.cut_first = true;
  late.held = true;
  on.cluster.inject(late);
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas, ever));
  on.produce("A");
  on.await("A");
  on.cluster.release_held();
  on.stored(2);
  on.recover();
  on.produce("B");
  on.await("B");
}

/// The head is refused for good while two batches are behind it.
void core_22(stage& on) {
  testing::fault refused =
      on.attempt("A", execution::skip, reply::error, broker_errc::invalid_record);
  refused.answer_after = 500ms;
  on.cluster.inject(refused);
  on.produce("A");
  on.faults(1);
  on.produce("B");
  on.produce("C");
  for (const char* name : {"A", "B", "C"}) on.await(name);
}

void loss_02(stage& on) {
  for (const char* name : {"X", "Y", "Z"}) {
    on.produce(name);
    on.await(name);
  }
  testing::metadata_lie gone;
  gone.topic = "t";
  gone.topic_code = broker_errc::unknown_topic_or_partition;
  gone.times = 3;
  on.cluster.inject(gone);
  on.cluster.drop_connections(1);
  on.wait(1500ms);
  on.produce("A");
  on.await("A");
}

void loss_10(stage& on) {
  testing::fault refused =
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas);
  refused.answer_after = 500ms;
  on.cluster.inject(refused);
  on.produce("A");
  on.faults(1);
  on.produce("B");
  on.await("A");
  on.await("B");
}

void dup_01(stage& on) {
  on.cluster.move_leader("t", 1, 1);
  on.produce("W1", 1);
  on.await("W1");
  on.cluster.inject(on.attempt("X", execution::append, reply::close_before));
  on.cluster.inject(
      on.attempt("Y", execution::skip, reply::error, broker_errc::out_of_order_sequence_number));
  on.produce("X", 1);
  on.faults(1);
  on.produce("Y", 0);
  on.await("X");
  on.await("Y");
}

void dup_04(stage& on) {
  on.cluster.inject(on.attempt("A", execution::append, reply::close_before));
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::out_of_order_sequence_number));
  on.produce("A");
  on.await("A");
}

void dup_05(stage& on) {
  on.cluster.inject(on.attempt("A", execution::append, reply::close_before));
  on.produce("A");
  on.faults(1);
  on.cluster.move_leader("t", 0, 2);
  on.await("A");
}

void dup_08(stage& on) {
  const std::vector<std::string> names = {"A", "B", "C", "D", "E"};
  for (const std::string& name : names)
    on.cluster.inject(on.attempt(name, execution::append, reply::never));
  for (const std::string& name : names) {
    on.produce(name);
    on.wait(30ms);
  }
  for (const std::string& name : names) on.await(name);
}

void ord_06(stage& on) {
  testing::fault refused =
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas);
  refused.answer_after = 500ms;
  on.cluster.inject(refused);
  on.produce("A");
  on.faults(1);
  on.produce("B");
  on.produce("C");
  for (const char* name : {"A", "B", "C"}) on.await(name);
}

void seq_06(stage& on) {
  on.cluster.forget_producers("t", 0);
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::out_of_order_sequence_number));
  on.produce("A");
  on.await("A");
}

void seq_21(stage& on) {
  on.cluster.inject(on.attempt("A", execution::append, reply::never));
  on.produce("A", 0, two_days_ago());
  on.stored(2);
  on.cluster.forget_producers("t", 0);
  on.await("A");
}

void seq_22(stage& on) {
  on.produce("X", 0, two_days_ago());
  on.await("X");
  on.cluster.forget_producers("t", 0);
  testing::fault refused =
      on.attempt("A", execution::skip, reply::error, broker_errc::not_enough_replicas);
  refused.answer_after = 500ms;
  on.cluster.inject(refused);
  on.produce("A", 0, two_days_ago());
  on.faults(1);
  on.produce("B", 0, two_days_ago());
  on.await("A");
  on.await("B");
}

void time_01(stage& on) {
  on.cluster.inject(on.attempt("A", execution::append, reply::never, broker_errc::none, ever));
  on.produce("A");
  on.await("A");
}

void meta_01(stage& on) {
  testing::metadata_lie none;
  none.topic = "t";
  none.partition = 0;
  none.leader = broker_id{};
  none.times = 8;
  on.cluster.inject(none);
  on.cluster.inject(
      on.attempt("A", execution::skip, reply::error, broker_errc::not_leader_or_follower));
  on.produce("A");
  on.await("A");
}

void meta_05(stage& on) {
  on.cluster.delete_topic("t");
  on.cluster.create_topic("t", {.partitions = 3, .replicas = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}});
  on.produce("A");
  on.await("A");
  on.recover();
  on.produce("B");
  on.await("B");
}

void meta_21(stage& on) {
  on.cluster.deny(testing::right::write, "t");
  on.produce("A");
  on.await("A");
  on.cluster.allow(testing::right::write, "t");
  on.recover();
  on.produce("B");
  on.await("B");
}

}  // namespace

void stage::produce(const std::string& name, int partition, std::optional<std::int64_t> timestamp) {
  names_.push_back(name);
  nlohmann::json line{{"do", "produce"},        {"name", name}, {"topic", "t"},
                      {"partition", partition}, {"key", "k"},   {"value", name}};
  if (timestamp) line["timestamp"] = *timestamp;
  client.say(line.dump());
}

void stage::await(const std::string& name) {
  static_cast<void>(client.await(name, limits_.delivery + 8s));
}

void stage::cancel(const std::string& name) {
  client.say(nlohmann::json{{"do", "cancel"}, {"name", name}}.dump());
  wait(20ms);
}

void stage::recover(int partition) {
  client.say(nlohmann::json{
      {"do", "recover"}, {"topic", "t"}, {"partition", partition}, {"how", "discard"}}
                 .dump());
}

void stage::wait(std::chrono::milliseconds time) const { std::this_thread::sleep_for(time); }

void stage::faults(std::uint64_t count) const {
  static_cast<void>(holds_within(8s, [&] { return cluster.counters().faults_hit >= count; }));
  wait(30ms);
}

void stage::stored(std::size_t records, int partition) const {
  static_cast<void>(
      holds_within(8s, [&] { return cluster.log("t", partition).size() >= records; }));
}

testing::fault stage::attempt(const std::string& name, execution what, reply seen, broker_errc code,
                              int times) const {
  testing::fault made;
  made.topic = "t";
  made.value = name;
  made.execution = what;
  made.reply = seen;
  made.code = code;
  made.times = times;
  made.real_offset = what == execution::append;
  return made;
}

const std::vector<fault_script>& fault_scripts() {
  static const peer_limits short_deadline{3000ms, 800ms, 0ms};
  static const peer_limits back_dated{6000ms, 1000ms, 0ms, true};
  static const std::vector<fault_script> scripts = {
      {"CORE-01",
       "stored, answered with a timeout, cancelled; then another record",
       core_01,
       {},
       false,
       true},
      {"CORE-02", "the same with \"not enough replicas after append\"", core_02, {}, false, true},
      {"CORE-03",
       "stored in doubt, then refused, cancelled; then another record",
       core_03,
       {},
       false,
       true},
      {"CORE-04",
       "stored, answer lost, then refused, cancelled; then another record",
       core_04,
       {},
       false,
       true},
      {"CORE-08", "stored in doubt, then refused for good", core_08, {}, false, false, true},
      {"CORE-13", "stored in doubt, refused until the deadline; then another record", core_13,
       short_deadline, false, false, true},
      {"CORE-17", "the frame of a lost connection is executed after the deadline", core_17,
       short_deadline, false, false, true},
      {"CORE-22", "the first of three is refused for good, two of its key are behind it", core_22},
      {"LOSS-02", "the topic is missing from metadata for a moment", loss_02},
      {"LOSS-10",
       "first batches of a partition: the first is refused, the second taken",
       loss_10,
       {},
       true},
      {"DUP-01", "an answer is lost on p1 while p0 is out of order", dup_01},
      {"DUP-04", "stored, answer lost, retry answered with \"out of order\"", dup_04},
      {"DUP-05", "stored, answer lost, the leader moves", dup_05},
      {"DUP-08", "five batches stored, every answer lost", dup_08, {10'000ms, 1000ms, 0ms}},
      {"ORD-06", "the first of three is refused for a moment", ord_06},
      {"SEQ-06", "the broker forgot the producer and says \"out of order\"", seq_06},
      {"SEQ-21", "back-dated, stored, answer lost, the broker forgets the producer", seq_21,
       back_dated},
      {"SEQ-22", "back-dated, the broker forgets the producer, the first of two is refused", seq_22,
       back_dated},
      {"TIME-01", "stored, never answered", time_01, short_deadline},
      {"META-01", "no leader for a while", meta_01},
      {"META-05", "the topic is deleted and created again", meta_05, {}, false, false, true},
      {"META-21", "the right to write is taken and given back", meta_21, {}, false, false, true},
  };
  return scripts;
}

}  // namespace partita::peers
