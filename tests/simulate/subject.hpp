// One producer under test: what was produced to it, what it answered and when, and which
// partitions its application has seen halt.
//
// Invariants
// 1. A record names its producer, topic, partition and number, so that the log can be read back
//    without doubt about whose it is.
// 2. Nothing here decides whether an answer was right: that is the judge's.
//
// Threads: that of the simulation.
#pragma once

#include "tests/simulate/coverage.hpp"
#include "tests/simulate/plan.hpp"

#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace partita::simulate {

using testing::virtual_time;
using place = std::pair<int, int>;  // topic, partition

/// The logs of one history: those of each partition, one list per life of its topic.
using logs = std::map<place, std::vector<std::vector<testing::log_record>>>;

/// Takes what happens, line by line. Null: nothing is written down.
using diary = std::function<void(const std::string& line)>;

struct record_life {
  std::uint64_t order = 0;  ///< in the order of produce(), per producer
  place where;
  std::optional<std::string> key;
  std::string value;
  virtual_time::duration produced{};
  virtual_time::duration stamped{};  ///< its timestamp
  virtual_time::duration bound{};    ///< it must be answered by then
  virtual_time::duration answered{};
  std::vector<outcome> answers;
  bool behind_halt = false;           ///< its application had seen the halt, and not recovered
  bool from_callback = false;         ///< goes before what is queued: its order is its own
  std::uint64_t begun = 0;            ///< all before this number had had their turns by then
  bool must_arrive = false;           ///< produced after all faults: I14
  bool together = false;              ///< its answer comes with others', when the last one is known
  bool handed_back = false;           ///< came back from recover(take) or close()
  bool settlement_asked = false;      ///< it was unknown first
  std::optional<settlement> settled;  ///< what was said of it then
  record_handle handle{};
};

/// Whether a record may have reached its partition before what was asked for there when `before`
/// had been produced. One from a callback may still do so while that waits for its turn.
[[nodiscard]] inline bool may_come_before(const record_life& one, std::uint64_t before) noexcept {
  return one.order < before || (one.from_callback && one.begun <= before);
}

/// The records that recover(resubmit) sent again, in order.
struct resubmission {
  place where;
  std::uint64_t before = 0;     ///< concerns records produced before this one
  std::int64_t log_before = 0;  ///< what lies below this offset was there when it was asked for
  bool duplicates_allowed = false;
  std::vector<resubmitted_record> records;
};

struct closing_life {
  virtual_time::duration bound{};
  std::optional<virtual_time::duration> done;
};

class subject {
 public:
  subject(testing::simulation& world, const plan& history, std::size_t number, coverage& seen,
          const diary& trace);
  ~subject();
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;

  struct wish {
    place where;
    int key = -1;  ///< below zero: none
    std::size_t padding = 0;
    std::optional<std::chrono::milliseconds> age{};  ///< of its timestamp
    bool must_arrive = false;
    bool cancellable = false;
    std::optional<std::chrono::milliseconds> deadline{};  ///< of its own
  };
  void produce(const wish& what);
  /// One of those that can be cancelled, whatever became of it.
  void cancel_some(std::uint64_t draw);
  void produce_together(const std::vector<wish>& what);
  void pause(place where, bool abort);
  void resume(place where);
  void recover(place where, recovery how, bool duplicates);
  /// The partition, or one key of it.
  void halt(place where, int key);
  void flush(int scope, place where);
  void ask_status();
  void close(std::chrono::milliseconds deadline);
  void destroy();

  /// From now on nothing throws and nothing re-enters.
  void behave() noexcept { behaves_ = true; }
  [[nodiscard]] bool alive() const noexcept { return producer_ != nullptr; }
  [[nodiscard]] bool closing() const noexcept { return !closings_.empty(); }
  [[nodiscard]] bool everything_answered() const noexcept { return answers_ == records_.size(); }
  [[nodiscard]] bool idle_at(place where) const noexcept;
  /// Whether a record there was told to be unknown, at first or when it was sent again.
  [[nodiscard]] bool in_doubt_at(place where) const;
  [[nodiscard]] bool seen_halted(place where) const;
  [[nodiscard]] bool seen_any_halt() const;
  /// Whether only records of one key have an order there.
  [[nodiscard]] bool ordered_by_key(place where) const;
  [[nodiscard]] std::size_t recoveries_open() const noexcept { return recoveries_open_; }
  [[nodiscard]] int number() const noexcept { return static_cast<int>(number_); }
  [[nodiscard]] const producer_config& config() const noexcept { return config_; }
  [[nodiscard]] const std::deque<record_life>& records() const noexcept { return records_; }
  [[nodiscard]] const std::vector<resubmission>& resubmissions() const { return resubmissions_; }
  [[nodiscard]] const std::deque<closing_life>& closings() const noexcept { return closings_; }
  [[nodiscard]] const std::vector<std::string>& complaints() const noexcept { return complaints_; }
  [[nodiscard]] const std::optional<producer_status>& last_status() const { return status_; }

  [[nodiscard]] static std::string topic_name(int topic) { return topic == 0 ? "ledger" : "trail"; }
  /// The producer and number that a log's record names; nothing for a foreign one.
  [[nodiscard]] static std::optional<std::pair<int, std::uint64_t>> named_by(
      std::string_view value) noexcept;

 private:
  struct halting {
    bool seen = false;               // the application knows of a halt, and has not recovered
    std::set<std::string> keys;      // the same of single keys
    bool by_key = false;             // a key was recovered: its records lie behind others' now
    int recovering = 0;              // recoveries that have not reported
    int recoveries = 0;              // all that were asked for
    std::uint64_t recovered_at = 0;  // what was produced before is theirs to collect
    std::uint64_t begun = 0;         // all before this number have had their turns
    std::uint64_t open = 0;          // unanswered records
  };

  [[nodiscard]] producer_config logging(producer_config config) const;
  record_life& enter(const wish& what);
  [[nodiscard]] record view_of(const record_life& one, const wish& what) const;
  void note_answer(record_life& one, const outcome& answer);
  void ask_what_became_of(record_life& one, const failed& answer);
  void misbehave(const record_life& one);
  void reported(resubmission asked, const recovery_report& report);
  [[nodiscard]] bool keeps_too_old(place where) const;
  void check_hand_back(place where, const std::vector<std::uint64_t>& orders, const char* by);

  void note(const record_life& one, const std::string& what) const;

  testing::simulation& world_;
  const plan& plan_;
  const diary& trace_;
  std::size_t number_;
  producer_config config_;
  coverage& seen_;
  testing::seeded_draws draws_;
  std::unique_ptr<producer> producer_;
  std::deque<record_life> records_;
  std::vector<record_life*> cancellable_;
  std::size_t answers_ = 0;
  std::map<place, halting> halts_;
  std::vector<resubmission> resubmissions_;
  std::size_t recoveries_open_ = 0;
  std::deque<closing_life> closings_;
  std::vector<std::string> complaints_;
  std::optional<producer_status> status_;
  bool behaves_ = false;
  int depth_ = 0;
};

}  // namespace partita::simulate
