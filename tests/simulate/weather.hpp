// The faults of a history: strikes, and what heals them.
//
// Invariants
// 1. Everything that strikes is counted, and undone by heal().
// 2. Brokers may lie about what they did, but never call appended what is not, nor raise a code
// that
//    only a refusal raises for what they appended, unless the base offset gives them away.
//
// Threads: that of the simulation.
#pragma once

#include "tests/simulate/coverage.hpp"
#include "tests/simulate/plan.hpp"
#include "tests/simulate/subject.hpp"

#include <partita/testing/cluster.hpp>
#include <partita/testing/virtual_time.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace partita::simulate {

class weather {
 public:
  weather(testing::simulation& world, const plan& history,
          const std::vector<std::unique_ptr<subject>>& subjects, coverage& seen,
          const diary& trace);

  /// One fault of one of the history's groups.
  void strike();
  /// Ends everything that struck.
  void heal();
  [[nodiscard]] testing::seeded_draws& draws() noexcept { return draws_; }
  [[nodiscard]] place any_place();
  /// What a partition's log holds, and what compaction took out of it: nothing of it is lost for
  /// the judge.
  [[nodiscard]] std::vector<testing::log_record> log_of(place where);
  /// The logs of topics that were deleted, in the order of their lives.
  [[nodiscard]] const logs& former() const noexcept { return former_; }

 private:
  void strike_codes();
  void strike_responses();
  void strike_sockets();
  void strike_brokers();
  void strike_leaders();
  void strike_producers();
  void strike_topics();
  void strike_rights();
  void withhold_ids();
  void delete_topic(int topic);
  void make_again();
  void allow_everything();
  void strike_swizzle();
  void compact_now_and_then();
  void compact();
  void inject(testing::fault made, fault_kind kind);
  void struck(fault_kind kind, const std::string& where);
  void cut(int broker, std::chrono::milliseconds length);
  void stop(int broker, testing::stop_kind how);
  void later(std::chrono::milliseconds wait, std::function<void()> action);
  [[nodiscard]] int any_broker();
  [[nodiscard]] std::chrono::milliseconds between(std::uint64_t low, std::uint64_t high);
  [[nodiscard]] testing::cluster& cluster() noexcept { return world_.cluster(); }

  testing::simulation& world_;
  const plan& plan_;
  const std::vector<std::unique_ptr<subject>>& subjects_;
  coverage& seen_;
  const diary& trace_;
  testing::seeded_draws draws_;
  testing::seeded_draws cleaner_draws_;
  std::vector<fault_group> groups_;  // of the history, those that strike from outside
  bool healed_ = false;
  std::set<int> stopped_;
  std::set<place> held_;
  std::set<int> gone_;  // topics that are deleted at the moment
  logs former_;
  std::map<place, std::vector<testing::log_record>> compacted_;  // of the topics that there are
};

}  // namespace partita::simulate
