// The stage of the scenario catalogue: a cluster, one producer, records with names, and a script.
//
// A scenario is a function over a stage. It reads like its row: settings first, then what the
// client, the broker, the network and the cluster do, then the "Right" line. The notation is the
// catalogue's: `A#1 +>7` is the first attempt of the batch that holds A, stored and answered with
// 7; `A#n ->19` every attempt that no other line names, not stored, refused.
//
// Invariants
// 1. The producer starts with the first word that needs it; settings come before.
// 2. Every record has one name, and its value starts with that name and its partition.
// 3. What a broker saw of a batch is written down before anything happens to it.
// 4. The oracle runs after every scenario, whatever the scenario looked at itself.
//
// Threads: one for the scenario; on loopback, lanes and brokers call in under the stage's lock.
#pragma once

#include "tests/sim/stage_executor.hpp"
#include "tests/sim/stage_world.hpp"

#include <partita/producer.hpp>
#include <partita/testing/attempt.hpp>
#include <partita/testing/checker.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/virtual_time.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::testing {

using namespace std::chrono_literals;

/// (producer id, epoch, first sequence) of a batch.
struct batch_tuple {
  std::int64_t id = -1;
  std::int16_t epoch = -1;
  std::int32_t sequence = -1;
  friend auto operator<=>(const batch_tuple&, const batch_tuple&) = default;
};
void PrintTo(const batch_tuple& tuple, std::ostream* out);

/// One attempt as the broker saw it, and what became of it.
struct attempt_note {
  std::uint64_t number = 0;
  std::uint64_t request = 0;
  std::uint64_t connection = 0;
  std::chrono::nanoseconds at{0};
  std::int32_t broker = -1;
  std::string topic;
  std::int32_t partition = -1;
  batch_tuple tuple;
  std::uint64_t content = 0;  ///< digest of the batch's bytes
  std::size_t size = 0;
  std::vector<std::string> names;
  bool first_of_batch = false;
  bool executed = false;
  bool appended = false;
  std::optional<broker_errc> answered;
  std::int64_t base_offset = -1;  ///< in the answer
};

/// A record, its answers, and when they came.
struct staged_record {
  std::string name;
  produced_record noted;  ///< its answers are those that count in the end
  std::vector<outcome> answers;
  std::chrono::nanoseconds produced_at{0};
  std::chrono::nanoseconds answered_at{0};
  std::chrono::nanoseconds limit{0};  ///< until when it must be answered
  std::function<void(const outcome&)> then;
  record_handle handle;
  int attempts = 0;
};

/// What a record is, beyond its name.
struct produce_how {
  std::size_t padding = 0;
  std::optional<timestamp> stamp{};
  std::vector<header> headers{};
  std::string topic = "t";
  std::optional<std::string> key = "k";
  std::optional<std::string> value{};  ///< in place of the name
  bool assigned = true;                ///< false: the partitioner chooses
  bool waits = false;                  ///< co_await: waits for room, continues on the executor
  bool cancellable = false;            ///< by cancel()
  produce_options options{};
  std::function<void(const outcome&)> then{};
};

enum class stage_place : std::uint8_t { simulated, loopback };

class stage : private attempt_script {
 public:
  stage(std::uint64_t seed, stage_place place);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  // set:
  [[nodiscard]] producer_config& set();
  [[nodiscard]] cluster_options& set_cluster();
  [[nodiscard]] link_options& set_links();
  void cold() { warm_ = false; }
  /// Brackets: batches of exactly so many records.
  void batches_of(int records);
  /// Starts now what would start with the first word.
  void start();

  // c:
  /// "A B(k1) X@p1": produces these, in order.
  void produce(std::string_view names, const produce_how& how = {});
  /// Those that were produced as cancellable.
  void cancel(std::string_view names);
  void await(std::string_view names);
  void await_all();
  /// From here on outcomes of records that wait are kept from the application.
  void hold_outcomes();
  void release_outcomes();
  void on_answer(const std::string& name, std::function<void(const outcome&)> then);
  recovery_report recover(recovery how, partition_id partition = 0, recover_options options = {});
  recovery_report recover_key(std::string_view key, recovery how, partition_id partition = 0);
  close_report close(std::chrono::milliseconds deadline);
  tally flush();
  void pause(partition_id partition = 0, pause_mode mode = pause_mode::hold);
  void resume(partition_id partition = 0);
  void destroy();
  [[nodiscard]] partition_status status(partition_id partition = 0);
  [[nodiscard]] producer_status whole_status();

  // b:
  /// "A#1 +>7, A#2 ->19@50ms, B#n ->mute": see stage_script.hpp for all words.
  void broker(std::string_view script);
  /// From here on every attempt goes by the broker's rules.
  void rule();

  // n: and k:, in virtual time only unless said
  /// Also ends the connections that exist, and waits until the client has noticed.
  void refuse(broker_id broker);
  void refuse_all();
  void silent(broker_id broker);
  void ok(broker_id broker);
  void ok_all();
  void cut(broker_id broker) { cluster().drop_connections(broker, true); }  ///< also on loopback
  void move(partition_id partition, broker_id to, tail kept = tail::kept);  ///< also on loopback
  void forget(partition_id partition) { cluster().forget_producers("t", partition); }
  /// Too few replicas, or enough again.
  void isr(bool enough);

  // Time and facts
  /// "A#1 seen", "A#2 stored", "A#1 answered": waits for it, and for its arrival at the client.
  void when(std::string_view fact);
  /// On sockets the fact is looked at under the lock that answers need: it must not wait for a
  /// lane.
  bool until(const std::function<bool()>& fact, std::chrono::nanoseconds limit = 10min);
  void run(std::chrono::nanoseconds length);
  void after(std::chrono::nanoseconds delay, std::function<void()> action);
  [[nodiscard]] std::chrono::nanoseconds now();
  /// Since the end of the warm start.
  [[nodiscard]] std::chrono::nanoseconds elapsed() { return now() - started_at_; }
  [[nodiscard]] bool simulated() const { return place_ == stage_place::simulated; }
  [[nodiscard]] seeded_draws& draws() { return draws_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // Right:
  /// "A=D|U, B=N, log=A B | A A B, log(p1)=X": checks outcomes, waiting for those it names, then
  /// logs.
  void right(std::string_view line);
  [[nodiscard]] std::string letter(const std::string& name);
  [[nodiscard]] const failed& failure(const std::string& name);
  [[nodiscard]] const delivered& delivery(const std::string& name);
  [[nodiscard]] std::error_code code(const std::string& name) { return failure(name).code; }
  [[nodiscard]] std::string log(partition_id partition = 0, const std::string& topic = "t");
  [[nodiscard]] std::string names_of(const std::vector<taken_record>& taken);
  /// Every attempt of batches that hold the record, in order.
  [[nodiscard]] std::vector<attempt_note> attempts(const std::string& name);
  [[nodiscard]] std::vector<attempt_note> all_attempts(partition_id partition = 0);
  [[nodiscard]] std::size_t sends(const std::string& name) { return attempts(name).size(); }
  [[nodiscard]] batch_tuple tuple(const std::string& name);
  [[nodiscard]] bool same_bytes(const std::string& name);
  [[nodiscard]] std::chrono::nanoseconds took(const std::string& name);
  [[nodiscard]] bool answered(const std::string& name);

  /// For rows whose broker contradicts itself.
  void expect_contradiction() { contradiction_allowed_ = true; }
  /// For rows whose frames lie in a frozen broker's socket while their partition halts.
  void late_frames_allowed() { halts_watched_ = false; }
  /// For rows whose halts end, or never begin, by what the application decides itself.
  void halts_are_its_own() { halts_watched_ = false; }
  /// For rows in which a log loses or gains records by the broker's fault.
  void log_may_differ() { log_checked_ = false; }
  /// For rows whose log may hold several copies of a doubtful record (allow_duplicates, no dedup).
  void copies_allowed() { copies_allowed_ = true; }
  void finish();
  /// What happened, line by line.
  [[nodiscard]] std::string story();

  [[nodiscard]] testing::cluster& cluster();
  [[nodiscard]] partita::producer& producer();
  [[nodiscard]] simulation& world();
  [[nodiscard]] bool has_producer() const { return producer_ != nullptr; }
  [[nodiscard]] staged_record& record(const std::string& name);

 private:
  struct line {
    std::string name;
    int attempt;  // 0: every one that no other line names
    testing::fault fault;
  };

  std::optional<testing::fault> on_seen(const produce_attempt& attempt) override;
  void on_executed(const attempt_result& result) override;
  void on_answered(const attempt_answer& answer) override;

  staged_record& admit(std::string_view word, const produce_how& how, partita::record& view);
  void wait_for_answer(staged_record& made, const partita::record& view,
                       const produce_options& options);
  void take_answer(staged_record& record, const outcome& answer);
  void note(const std::string& text);
  template <class T>
  T get(operation<T> pending);
  void replace_answers(const recovery_report& report, partition_id partition);
  void watch_halt(const attempt_note& seen);
  void check_tuples();
  void check_pace();
  void check_log();
  void check_order();
  void check_answers();

  stage_place place_;
  std::uint64_t seed_;
  seeded_draws draws_;
  producer_config config_;
  cluster_options cluster_options_;
  link_options links_;
  bool warm_ = true;
  bool started_ = false;
  std::unique_ptr<stage_world> world_;
  std::unique_ptr<partita::producer> producer_;

  std::recursive_mutex lock_;
  std::condition_variable_any changed_;
  std::deque<staged_record> records_;
  std::map<std::string, staged_record*> by_name_;
  stage_executor executor_;
  std::vector<line> script_;
  std::deque<attempt_note> attempts_;
  struct halt_note {
    std::chrono::nanoseconds since;
    std::uint64_t order;  // of the record whose failure halted the partition
  };
  std::map<std::int32_t, halt_note> halted_since_;
  std::vector<std::string> violations_;
  std::vector<std::string> story_;
  std::map<std::pair<std::string, std::int32_t>, std::int64_t> warm_end_;
  std::chrono::nanoseconds started_at_{0};
  std::uint64_t order_ = 0;
  std::size_t unanswered_ = 0;
  bool contradiction_allowed_ = false;
  bool halts_watched_ = true;
  bool log_checked_ = true;
  bool copies_allowed_ = false;
};

/// Runs a scenario over seeds of schedule noise and, if it may, over loopback sockets.
struct play_options {
  int seeds = 100;
  bool loopback = false;
};
void play(void (*scenario)(stage&), const play_options& options);

/// A row of the catalogue. Untimed rows run over real sockets too.
#define SCENARIO(suite, name) SCENARIO_WITH(suite, name, (100), (true))
#define SCENARIO_TIMED(suite, name) SCENARIO_WITH(suite, name, (100), (false))
#define SCENARIO_SEEDS(suite, name, seeds) SCENARIO_WITH(suite, name, (seeds), (false))
#define SCENARIO_WITH(suite, name, seeds, loopback)                                    \
  void scenario_##name(::partita::testing::stage& s);                                  \
  TEST(suite, name) { ::partita::testing::play(&scenario_##name, {seeds, loopback}); } \
  void scenario_##name([[maybe_unused]] ::partita::testing::stage& s)

}  // namespace partita::testing
