// The brokers that a case measures against: a null broker that ends with its object, or real ones.
//
// Threads: one.
#pragma once

#include "bench/broker_statistics.hpp"
#include "bench/compare/child_process.hpp"

#include <cstdint>
#include <string>

namespace partita::bench {

class cluster {
 public:
  /// Starts a null broker with these options.
  cluster(const std::string& directory, words options);
  /// Brokers that somebody else started.
  explicit cluster(std::string bootstrap);
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;
  ~cluster();

  /// What a measured program is told of it.
  [[nodiscard]] words options() const;
  /// Whether it counts what comes.
  [[nodiscard]] bool counts() const { return counters_ != nullptr; }
  /// Records appended so far.
  [[nodiscard]] std::uint64_t records() const { return counters_->records; }

 private:
  static inline int next_ = 0;
  std::string statistics_;
  std::string bootstrap_;
  broker_statistics* counters_ = nullptr;
  pid_t child_ = -1;
  int from_child_ = -1;
};

}  // namespace partita::bench
