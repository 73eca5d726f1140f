// Stands between a producer and real brokers: a port for each broker, which passes Kafka's frames
// on and does to some Produce requests what frame_faults says: by chance, or by a script.
//
// The brokers advertise the proxy's ports on the listener behind it, so nothing but Produce is
// touched.
//
// Invariants
// 1. Answers of a connection come in the order of its requests, or not at all.
// 2. A frame that is held goes to its broker once, whole, or not at all; quiet() waits for it.
// 3. What a broker said to a Produce request under a script is noted, whatever becomes of the
// answer.
//
// Threads: two for each connection and one for each held frame; the public functions from one.
#pragma once

#include "chaos/frame_faults.hpp"

#include <partita/ids.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace partita::chaos {

struct proxy_route {
  std::uint16_t listen = 0;
  std::uint16_t broker = 0;
};

/// What a broker said to a Produce request about one partition.
struct produce_answer {
  partition_id partition{};
  broker_errc code = broker_errc::none;
  offset base{};
};

class fault_proxy {
 public:
  using answers = std::vector<produce_answer>;

  fault_proxy(std::vector<proxy_route> routes, std::uint64_t seed);
  ~fault_proxy();
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;

  /// What went wrong at the start; empty if nothing.
  const std::string& failure() const noexcept { return failure_; }

  void set_rate(int faults_per_mille) noexcept { per_mille_ = faults_per_mille; }
  /// The next Produce requests meet these, one each in the order in which they come, and all later
  /// ones meet `rest`. Chance has no part in it any more.
  void script(std::deque<chosen_fault> faults, chosen_fault rest = {});
  /// Returns when what brokers have said since the first script() is so; false: it was not within
  /// a minute.
  bool await_answers(const std::function<bool(const answers&)>& are_so);
  answers answers_so_far();
  /// Cuts every connection to this broker (from 0) at once.
  void cut(std::size_t broker);
  /// False: new connections to this broker are closed at once.
  void admit(std::size_t broker, bool open);
  /// No more faults; returns when every held frame was executed, or has given up.
  void quiet();

  /// How often somebody connected to go to this broker, whether it was there or not.
  std::uint64_t attempts(std::size_t broker) const noexcept { return gates_[broker]->attempts; }
  std::uint64_t count(frame_fault fault) const noexcept {
    return counts_[static_cast<std::size_t>(fault)].load();
  }

 private:
  struct link;
  struct gate {
    proxy_route route;
    int listener = -1;
    std::atomic<bool> open{true};
    std::atomic<std::uint64_t> attempts{0};
    std::thread acceptor;
  };

  void accept_all(std::size_t broker);
  void carry_requests(const std::shared_ptr<link>& of);
  void carry_answers(const std::shared_ptr<link>& of);
  /// False: the connection is over.
  bool pass_request(link& of, bytes request, fault_chooser& chooser);
  bool pass_answer(link& of, const bytes& answer);
  chosen_fault next_fault(fault_chooser& chooser);
  void note_answer(const bytes& answer, std::int16_t version);
  void execute_later(std::uint16_t broker, bytes request, std::chrono::milliseconds wait);
  void note(frame_fault fault) noexcept { ++counts_[static_cast<std::size_t>(fault)]; }
  void spawn(void (fault_proxy::*work)(const std::shared_ptr<link>&), std::shared_ptr<link> of);

  const std::uint64_t seed_;
  std::string failure_;
  std::atomic<int> per_mille_{0};
  std::atomic<bool> ends_{false};
  std::array<std::atomic<std::uint64_t>, frame_faults> counts_{};
  std::vector<std::unique_ptr<gate>> gates_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::shared_ptr<link>> links_;
  std::uint64_t connections_ = 0;
  int threads_ = 0;  // of connections and of held frames
  int held_ = 0;
  bool scripted_ = false;
  std::deque<chosen_fault> script_;
  chosen_fault rest_;
  answers answers_;
  std::condition_variable answered_;
};

}  // namespace partita::chaos
