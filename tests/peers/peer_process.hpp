// A client under test as a process that speaks `partita drive`'s lines: partita itself, or a small
// program around another client. Of the protocol the others know produce, cancel and close.
//
// Invariants
// 1. The process ends with the object.
//
// Threads: one, and one that reads what the process says.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace partita::peers {

/// What a client said of a record.
struct peer_outcome {
  std::string outcome;  ///< delivered, not_written, unknown (partita); delivered, failed (others)
  std::string code;
  std::int32_t partition = -1;
  std::int64_t offset = -1;
};

class peer_process {
 public:
  explicit peer_process(const std::vector<std::string>& command);
  ~peer_process();
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;

  void say(const std::string& line);
  /// Waits for its answer.
  bool await(const std::string& name, std::chrono::milliseconds longest);
  /// The last thing that was said of it.
  std::optional<peer_outcome> outcome_of(const std::string& name) const;
  /// Closes its input and waits for its end; kills it after `longest`.
  void finish(std::chrono::milliseconds longest);

 private:
  void read_all();
  void take(const std::string& line);

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::thread reader_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, peer_outcome> outcomes_;
  bool ended_ = false;
};

}  // namespace partita::peers
