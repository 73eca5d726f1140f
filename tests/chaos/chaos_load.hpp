// One application under chaos: keyed records without pause, failures that are recovered, partitions
// that are paused, records that are cancelled, tickets that are settled. Everything by seed, and
// everything kept in the history.
//
// Threads: one of its own, and the producer's.
#pragma once

#include "chaos/chaos_history.hpp"
#include "chaos/ticket_box.hpp"

#include <partita/producer.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace partita::chaos {

struct load_options {
  std::string bootstrap;
  std::string name;  ///< begins its keys and values
  failure_policy policy = failure_policy::halt_partition;
  std::vector<std::string> topics;
  int partitions = 6;
  int keys = 20;
  std::chrono::milliseconds delivery_timeout{4000};
  std::uint64_t seed = 1;
};

class chaos_load {
 public:
  chaos_load(const load_options& options, chaos_history& history);
  ~chaos_load();
  chaos_load(const chaos_load&) = delete;
  chaos_load& operator=(const chaos_load&) = delete;

  const std::string& name() const noexcept { return options_.name; }
  /// Stops producing; what is open is answered, halts end by discarding, tickets are settled.
  void finish();
  /// The end of finish(): a newer record was acknowledged everywhere, and every ticket settled.
  bool all_settled() const noexcept { return all_settled_; }
  /// What status() says at the end.
  std::uint64_t contradictions() const noexcept { return contradictions_; }
  /// Records that were sent again without having failed.
  std::uint64_t strangers() const noexcept { return strangers_; }
  std::string activity() const;

 private:
  using steady = std::chrono::steady_clock;
  struct place {
    std::string topic;
    partition_id partition;
    friend auto operator<=>(const place&, const place&) = default;
  };

  void run();
  void produce_some();
  chaos_history::index begin(const std::string& topic, const std::string& key);
  void pause_some();
  void resume_due();
  void recover_due();
  void cancel_some();
  void recover(const place& where);
  /// One newer record in each partition, acknowledged: it shuts out what was given up before.
  bool seal();
  void produce_last(const place& where);
  void resubmitted(const recovery_report& report, const place& where);
  void answered(chaos_history::index at, const outcome& answer);
  void failed_there(chaos_history::index at, const failed& failure);

  const load_options options_;
  chaos_history& history_;
  std::mt19937_64 random_;
  std::mutex mutex_;
  /// Where something failed, and when the application will have noticed.
  std::map<place, steady::time_point> troubles_;
  /// What failed, by the numbers that recover() names it by.
  std::map<std::pair<place, record_number>, chaos_history::index> failed_;
  std::deque<std::pair<steady::time_point, place>> paused_;
  std::uint64_t produced_ = 0;
  std::atomic<std::uint64_t> delivered_{0};
  std::atomic<std::uint64_t> recoveries_{0};
  std::deque<record_handle> recent_;
  ticket_box tickets_;
  std::set<place> unsealed_;  // without a newer record yet
  bool all_settled_ = false;
  std::uint64_t pauses_ = 0;
  std::uint64_t cancels_ = 0;
  std::atomic<std::uint64_t> resubmissions_{0};
  std::atomic<std::uint64_t> strangers_{0};
  std::uint64_t contradictions_ = 0;
  std::atomic<bool> ends_{false};
  partita::producer producer_;
  std::thread thread_;
};

}  // namespace partita::chaos
