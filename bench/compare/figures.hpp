// What the cases found: per case the values of each client, and the figures that have a target.
//
// Invariants
// 1. A figure's samples are ratios within one round, where both sides met the same machine, or
//    values of one program.
//
// Threads: one.
#pragma once

#include "bench/compare/child_process.hpp"

#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace partita::bench {

class samples {
 public:
  void add(double value) { all_.push_back(value); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
  [[nodiscard]] const std::vector<double>& all() const { return all_; }

 private:
  std::vector<double> all_;
};

struct bound {
  double value = 0;  ///< 0: for information
  bool at_most = true;
};

struct figure {
  std::string name;
  std::string unit;
  bound target;
  samples found;

  [[nodiscard]] bool met() const;
};

class case_table {
 public:
  explicit case_table(std::string title) : title_(std::move(title)) {}

  /// One more round of a client.
  void take(const std::string& client, const values& told);
  /// The figure with this name, made at the first call. Without samples it is "not measured".
  figure& figure_of(const std::string& name, const std::string& unit, bound target = {});
  /// One more sample, if there is this value.
  void add(const std::string& name, const std::string& unit, const values& from,
           const std::string& value, bound target = {});
  /// One more sample of one client's value over another's, if both have it.
  void add_ratio(const std::string& name, const values& over, const values& under,
                 const std::string& value, bound target = {});

  void print() const;
  void write_json(std::FILE* file) const;
  [[nodiscard]] const std::deque<figure>& figures() const { return figures_; }

 private:
  using row = std::pair<std::string, std::map<std::string, samples>>;
  void print_clients() const;

  std::string title_;
  std::vector<row> clients_;
  std::deque<figure> figures_;
};

}  // namespace partita::bench
