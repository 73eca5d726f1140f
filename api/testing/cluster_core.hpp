// The simulated cluster as a whole: connections in, answers out, faults and time in between.
//
// Invariants
// 1. A connection executes one request at a time, in order of arrival, waiting included; nothing
// behind a
//    waiting request is looked at.
// 2. A complete frame is executed although its connection is gone; what an answer could not be sent
// for
//    ends the rest (kafka-semantics 1.7). An incomplete frame is never executed.
// 3. A sink is never called from inside received(); it must not call back from inside its own
// functions.
// 4. Answers of a request are sent or its connection is ended: never both missing, unless a fault
// asks.
//
// Threads: one at a time; the owner locks (see lock()).
#pragma once

#include "api/testing/api_fault_plan.hpp"
#include "api/testing/cluster_state.hpp"
#include "api/testing/fault_plan.hpp"
#include "api/testing/fetch_service.hpp"
#include "api/testing/produce_service.hpp"
#include "wire/frame.hpp"

#include <partita/testing/attempt.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace partita::testing {

/// Where a connection's bytes go. Implemented by the socket server and by the simulated links.
class connection_sink {
 public:
  virtual void send(std::vector<std::byte> bytes) = 0;
  /// After everything sent: the connection ends. Nothing follows.
  virtual void end(bool reset) = 0;

 protected:
  ~connection_sink() = default;
};

class cluster_core {
 public:
  using connection_id = std::uint64_t;
  using clock = std::function<moment()>;

  cluster_core(const cluster_options& options, clock now);
  cluster_core(const cluster_core&) = delete;
  cluster_core& operator=(const cluster_core&) = delete;
  ~cluster_core();

  [[nodiscard]] std::mutex& lock() noexcept { return lock_; }
  [[nodiscard]] cluster_state& state() noexcept { return state_; }
  [[nodiscard]] const cluster_state& state() const noexcept { return state_; }
  [[nodiscard]] fault_plan& faults() noexcept { return faults_; }
  [[nodiscard]] api_fault_plan& api_faults() noexcept { return api_faults_; }
  [[nodiscard]] cluster_counters& counters() noexcept { return counters_; }
  [[nodiscard]] attempt_script* script() noexcept { return script_; }
  void follow(attempt_script* script) noexcept { script_ = script; }

  // Connections.
  /// 0 when the broker does not run.
  connection_id open(std::int32_t broker, connection_sink& sink);
  void received(connection_id id, byte_view bytes);
  /// The client sends no more but reads on (half close): what is complete is executed and answered.
  void input_ended(connection_id id);
  /// The client is gone; the sink is not used again. By RST nothing can be sent any more, by FIN a
  /// first answer still leaves without notice.
  void lost(connection_id id, bool reset);

  /// Bytes that wait behind a request or for a paused broker; a reader stops at a limit, as a muted
  /// socket would. 0 while the rest of a frame is wanted.
  [[nodiscard]] std::size_t unread(connection_id id) const noexcept;

  // Time and change.
  /// Runs what is due, and whatever became possible since.
  void advance();
  /// Ends every wait that a change made possible.
  void settle_waiting();
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;
  void stop_broker(std::int32_t broker, stop_kind kind);
  void start_broker(std::int32_t broker);
  void pause_broker(std::int32_t broker);
  void resume_broker(std::int32_t broker);
  void drop_connections(std::int32_t broker, bool reset);
  /// Executes held produce requests that name this partition; an empty topic: all.
  void release_held(std::string_view topic, std::int32_t partition);
  [[nodiscard]] std::size_t held() const noexcept;

  // For the services.
  [[nodiscard]] moment now() const { return now_(); }
  void at(std::int64_t steady_ns, std::function<void()> action);
  /// Sends the answer of the request that the connection executes, and lets it go on.
  void reply(connection_id id, std::vector<std::byte> bytes);
  /// The same without an answer (acks=0).
  void reply_nothing(connection_id id);
  /// Sends bytes and leaves the connection blocked.
  void send_only(connection_id id, std::vector<std::byte> bytes);
  void close(connection_id id, bool reset);
  /// Nothing is sent on this connection any more, but what arrives is executed.
  void silence(connection_id id);
  /// The request is never answered: nothing behind it is looked at, until the client gives up.
  void block(connection_id id);
  /// The code that the connection's request is to be refused with, if a fault says so.
  [[nodiscard]] const api_fault* refusal_of(connection_id id) const noexcept;

 private:
  struct connection;

  connection* find(connection_id id) noexcept;
  void pump(connection_id id);
  bool execute(connection& link, byte_view frame);
  const api_fault* choose_fault(connection_id id, std::int16_t key, std::int32_t broker);
  bool answer_badly(connection_id id, std::vector<std::byte>& bytes);
  void send_badly(connection_id id, const api_fault& hit, std::vector<std::byte> bytes);
  template <class Request>
  bool serve(connection& link, const wire::request_header& header, byte_view body);

  std::mutex lock_;
  clock now_;
  cluster_state state_;
  fault_plan faults_;
  api_fault_plan api_faults_;
  std::map<connection_id, api_fault> hits_;  // of the requests that are being executed
  cluster_counters counters_;
  attempt_script* script_ = nullptr;
  std::map<connection_id, std::shared_ptr<connection>> connections_;
  connection_id last_connection_ = 0;
  std::multimap<std::int64_t, std::function<void()>> timers_;
  produce_service produce_;
  fetch_service fetch_;
};

}  // namespace partita::testing
