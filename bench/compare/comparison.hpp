// One comparison: which clients there are, how they are run, and what the cases find.
//
// Invariants
// 1. Clients take turns within a round, and each round begins with another one.
// 2. A run counts only if the program said that all of its records were answered as it should, and
//    the null broker appended exactly as many.
//
// Threads: one.
#pragma once

#include "bench/compare/child_process.hpp"
#include "bench/compare/cluster.hpp"
#include "bench/compare/figures.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::bench {

struct client {
  std::string name;
  words command;
};

struct settings {
  int rounds = 5;
  std::vector<std::string> only;  ///< cases
  std::string json;
  std::uint64_t records = 2'000'000;
  std::string headers = "api";
  std::string directory;  ///< of the programs
  std::string kafka;      ///< real brokers, for the case that wants them
  std::vector<client> clients;
};

class comparison {
 public:
  /// Adds the clients whose programs lie beside this one, and names what is missing.
  explicit comparison(settings options);

  /// 0: all targets met; 1: not all; 2: something did not run.
  int run_all();

  // For the cases:
  [[nodiscard]] const settings& options() const { return options_; }
  [[nodiscard]] int rounds() const { return options_.rounds; }
  [[nodiscard]] bool wanted(std::string_view name) const;
  /// The client's program; no words if it is not there.
  [[nodiscard]] words command_of(std::string_view client) const;
  [[nodiscard]] std::string program(const char* name) const {
    return options_.directory + "/" + name;
  }
  /// A table that is printed and kept when the case ends.
  case_table& table(const std::string& title) { return tables_.emplace_back(title); }
  /// What a program told; empty when it is not there, and when it failed, which spoils the whole
  /// comparison.
  values measure(words command, const words& mode, const cluster* against,
                 const std::string& preload = {});
  /// The same of each of these clients (of all, if none is named), into the table too.
  std::map<std::string, values> measure_round(int round, const words& mode, const cluster& against,
                                              case_table& into,
                                              const std::vector<std::string>& of = {});
  void fail(const std::string& why);

 private:
  void write_json() const;

  settings options_;
  std::deque<case_table> tables_;
  bool failed_ = false;
};

/// A case or several that share their runs.
struct measured_case {
  std::vector<std::string_view> names;
  void (*run)(comparison&);
};

void compile_time(comparison& all);
void saturated(comparison& all);
void heap(comparison& all);
void round_trip(comparison& all);       ///< P7 too
void pipelining(comparison& all);       ///< P8 too
void flat_out(comparison& all);         ///< P1 to P4
void real_brokers(comparison& all);     ///< P12
void codecs(comparison& all);           ///< P11
void many_partitions(comparison& all);  ///< P9
void steady_rates(comparison& all);     ///< P5
void awaiting(comparison& all);         ///< P6
void one_silent(comparison& all);       ///< P10

}  // namespace partita::bench
