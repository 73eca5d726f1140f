// The body of a broker's actor: one connection for produce requests, shared by all partitions that
// this broker leads. Fills requests from the outbox and takes answers apart.
//
// Invariants
// 1. A request carries at most one batch of a partition.
// 2. Every batch that was taken is given back exactly once: answered, lost, or provably not sent.
// 3. An answer is matched against what was asked before anything of it is believed; what does not
// match
//    closes the connection, and all batches in flight on it are in doubt.
//
// Threads: its lane's.
#pragma once

#include "actors/actor_cell.hpp"
#include "actors/cluster_services.hpp"
#include "actors/connection.hpp"
#include "actors/log_gate.hpp"
#include "actors/control_channel.hpp"
#include "actors/outbox.hpp"
#include "actors/producer_shared.hpp"
#include "actors/produce_exchange.hpp"
#include "wire/compression.hpp"

#include <partita/config.hpp>
#include <partita/status.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace partita::actors {

inline constexpr command_kind broker_pump_kind{80};
inline constexpr command_kind broker_address_kind{81};
inline constexpr command_kind broker_task_kind{82};

struct broker_settings {
  connection_settings connection;
  acks required_acks = acks::all;
  wire::codec codec = wire::codec::none;
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  std::size_t request_bytes_max = 1'048'576;
  std::size_t requests_in_flight_max = 5;
  std::chrono::milliseconds reconnect_backoff{50};
  std::chrono::milliseconds reconnect_backoff_max{1'000};
  std::chrono::milliseconds idle_max = std::chrono::seconds(540);
};

/// The broker's address, at the start and when it changes.
struct broker_address_command : command {
  std::string host;
  std::uint16_t port = 0;
};

class broker_actor;

struct broker_task : command {
  broker_task() { kind = broker_task_kind; }
  virtual ~broker_task() = default;
  virtual void run(broker_actor& at) = 0;
  virtual void refuse() noexcept = 0;
};

class broker_actor final : public actor_body, private connection_events {
 public:
  broker_actor(broker_id id, const broker_settings& settings, producer_shared& shared,
               cluster_services& cluster);
  ~broker_actor() override;

  // For partitions on the same lane.
  void add(partition_actor& ready, std::size_t bytes);
  void let_linger(partition_actor& waiting);
  /// It has nothing that could be brought along. No effect if it does not linger.
  void stop_lingering(partition_actor& idle) noexcept;
  /// The next request takes along everything that lingers: one linger ended by itself (SIZE-15), or
  /// somebody waits for room (TIME-17).
  void end_linger();
  void remove(partition_actor& gone);
  /// Its time is up before its frame has left: it comes back as not sent, with all that share the
  /// frame. False: the broker may have it.
  bool withdraw(const batch& sent);
  /// Over the connection for control. Not before the partition's own turn.
  void ask(control_client& asking);
  void withdraw(control_client& gone) { control_.withdraw(gone); }
  /// The lane it runs on for its whole life. Any thread, once spawned.
  [[nodiscard]] lane* self_lane() const noexcept { return lane_; }

  [[nodiscard]] broker_id id() const noexcept { return id_; }
  /// Whether something has waited for longer than `patience` that could not be sent or was not
  /// answered. Without a new attempt that is forgotten after a while, or nobody would try again.
  /// Any thread, about now.
  [[nodiscard]] bool stuck(instant now, duration patience) const noexcept {
    const auto since = instant(duration(stuck_since_ns_.load(std::memory_order_relaxed)));
    const auto until = instant(duration(stuck_until_ns_.load(std::memory_order_relaxed)));
    return now < until && since < now - patience;
  }
  [[nodiscard]] broker_status status() const;

  // actor_body
  void on_command(command& what) override;
  void on_turn_end() override;
  void on_refused(command& what) noexcept override;
  void on_stopped() noexcept override;
  /// Before the actor runs: partitions ask for the lane.
  void set_lane(lane& home) noexcept { lane_ = &home; }

 private:
  void on_ready() override;
  void on_answer(const wire::session_answer& answer, std::int16_t version) override;
  void on_sent(std::uint64_t cookie) override;
  void on_ended(std::uint64_t cookie, bool handed_over, std::error_code reason) override;
  void on_down(std::error_code code, const std::string& text) override;
  void on_slow(std::error_code code, const std::string& text) override;
  void note_trouble(std::error_code code, const std::string& text);

  void note_stuck() noexcept;
  void note_progress() noexcept;
  void wake();
  [[nodiscard]] bool has_work() const noexcept;
  void pump();
  void take_lingering_along();
  bool send_one();
  bool send_picked(outbox_pick& picked, instant now);
  [[nodiscard]] produce_exchange take_exchange();
  void keep_exchange(produce_exchange&& done);
  void connect();
  void retry_later(instant at);
  void timer_fired();
  void throttle(std::int32_t throttle_ms);
  void arm_idle();

  const broker_id id_;
  const broker_settings settings_;
  producer_shared& shared_;
  cluster_services& cluster_;
  lane* lane_ = nullptr;

  std::string host_;
  std::uint16_t port_ = 0;
  connection connection_;
  control_channel control_;
  outbox outbox_;
  std::deque<produce_exchange> exchanges_;        // sent or queued, oldest first
  std::vector<produce_exchange> done_exchanges_;  // for their memory
  std::vector<partition_actor*> asked_;           // within send_one()
  std::uint64_t next_cookie_ = 1;

  instant not_before_{};  // throttled, or waiting to connect again
  instant last_used_{};
  int failed_connects_ = 0;
  bool stopping_ = false;
  bool woken_ = false;
  bool linger_over_ = false;
  command pump_command_;
  timer_node timer_;

  std::atomic<duration::rep> stuck_since_ns_{never.time_since_epoch().count()};
  std::atomic<duration::rep> stuck_until_ns_{0};

  std::uint64_t requests_ = 0;
  std::uint64_t disconnects_ = 0;
  std::error_code last_error_;
  std::string last_error_text_;
  log_gate gate_;
};

}  // namespace partita::actors
