// Whether a history kept its promises: every answer against the logs, the clocks and the halts.
//
// Invariants
// 1. A finding names the invariant it breaks and the anomaly by Jepsen's name.
// 2. What is found rests on the log and on what the application saw, never on the producer's state.
//
// Threads: pure.
#pragma once

#include "tests/simulate/subject.hpp"

#include <partita/testing/cluster.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace partita::simulate {

struct finding {
  int invariant;        ///< 1 to 15
  std::string anomaly;  ///< lost-write, G1a, duplicate, ...
  std::string text;
};

class judge {
 public:
  judge(const std::vector<std::unique_ptr<subject>>& subjects, const logs& held)
      : subjects_(subjects), logs_(held) {}

  [[nodiscard]] std::vector<finding> verdict();

 private:
  struct copy {
    place where;
    std::size_t life;
    std::int64_t offset;
    producer_id id;
  };
  struct account {
    const subject* whose = nullptr;
    std::vector<std::vector<copy>> copies;            // by record
    std::vector<std::vector<std::int64_t>> expected;  // offsets that resubmissions told
    std::map<std::uint64_t, std::size_t> loose;       // resubmissions of unknown fate, by record
  };

  void read_logs();
  void check_resubmitted(account& at, const resubmission& again, const record_life& one,
                         std::int64_t offset);
  [[nodiscard]] static bool once_at(const account& at, place where);
  void check_resubmissions(account& at);
  void check_record(account& at, const record_life& one);
  void check_settlement(account& at, const record_life& one);
  void check_copies(account& at, const record_life& one, bool may_lie_somewhere);
  void check_offsets(const account& at);
  void check_order(const account& at);
  void check_times(const account& at);
  void check_closings(const account& at);
  void add(int invariant, const char* anomaly, const subject& whose, std::uint64_t order,
           const std::string& what);

  const std::vector<std::unique_ptr<subject>>& subjects_;
  const logs& logs_;
  std::vector<account> accounts_;
  std::vector<finding> found_;
};

}  // namespace partita::simulate
