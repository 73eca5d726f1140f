// A broker's connection for questions about logs (settlement), apart from the one for produce
// requests: a broker serves one request of a connection at a time, and one that waits for replicas
// would hold up everything behind it.
//
// Invariants
// 1. Every client that was taken hears answered() or unanswered() once, unless it is withdrawn.
// 2. At most in_flight_max requests are under way; the others wait in order.
// 3. When it can not connect, everybody who waits is told: who asks again keeps its own backoff.
//
// Threads: its lane's.
#pragma once

#include "actors/connection.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <system_error>

namespace partita::actors {

/// Whoever asks something over the channel: one request at a time each.
class control_client {
 public:
  /// Sends its request; false when the broker knows no version of it.
  virtual bool ask(connection& at, std::uint64_t cookie) = 0;
  virtual void answered(const wire::session_answer& answer, std::int16_t version,
                        connection& from) = 0;
  virtual void unanswered(std::error_code why) = 0;

 protected:
  ~control_client() = default;
};

class control_channel final : private connection_events {
 public:
  control_channel(const connection_settings& settings, std::chrono::milliseconds idle_max);

  /// Not from inside an event of this channel's connection while it is down.
  void submit(control_client& asking, lane& home, const std::string& host, std::uint16_t port);
  void withdraw(control_client& gone);
  /// Ends the connection; who waits is told.
  void stop(std::error_code why);

 private:
  static constexpr std::size_t in_flight_max = 16;

  struct sent_request {
    std::uint64_t cookie;
    control_client* client;  // null: withdrawn
  };

  void on_ready() override;
  void on_answer(const wire::session_answer& answer, std::int16_t version) override;
  void on_sent(std::uint64_t) override {}
  void on_ended(std::uint64_t cookie, bool handed_over, std::error_code reason) override;
  void on_down(std::error_code code, const std::string& text) override;

  void send_waiting();
  void tell_waiting(std::error_code why);
  void arm_idle();
  void idle_timer_fired();

  connection connection_;
  const std::chrono::milliseconds idle_max_;
  lane* home_ = nullptr;
  std::deque<control_client*> waiting_;
  std::deque<sent_request> sent_;
  std::uint64_t next_cookie_ = 1;
  instant last_used_{};
  timer_node idle_timer_;
};

}  // namespace partita::actors
