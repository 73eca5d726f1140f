// Time, randomness and links of a simulated run.
//
// Invariants
// 1. Same seed and same calls: same order of events, same trace hash. Nothing here reads a clock,
//    an address or a thread id.
// 2. Time moves only inside step() and never backwards. Events of one instant run in an order that
//    the seed decides, so that no test leans on the order of their scheduling.
//
// Threads: one thread.
#pragma once

#include <partita/outcome.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/timed_events.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace partita::wire {
class transport;
}

namespace partita::testing {

/// SplitMix64: small, seeded, the same on every machine.
class seeded_draws {
 public:
  explicit seeded_draws(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept;
  /// In [0, bound); 0 when bound is 0.
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// In [0, 1).
  double unit() noexcept;
  bool chance(double probability) noexcept { return probability > 0 && unit() < probability; }

 private:
  std::uint64_t state_;
};

/// A clock that is advanced by running events.
class virtual_time {
 public:
  using duration = std::chrono::nanoseconds;
  using event_id = timed_events::event_id;  ///< 0 names no event

  explicit virtual_time(std::uint64_t seed, partita::timestamp start = partita::timestamp{
                                                std::chrono::milliseconds{1'764'000'000'000}});
  virtual_time(const virtual_time&) = delete;
  virtual_time& operator=(const virtual_time&) = delete;

  [[nodiscard]] duration now() const noexcept { return now_; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const noexcept;
  [[nodiscard]] partita::timestamp wall() const noexcept;

  event_id after(duration delay, std::function<void()> action);
  event_id at(duration when, std::function<void()> action);
  void cancel(event_id event);

  /// The wall clock is set to another time; waiting goes by the other one.
  void set_wall_clock(std::chrono::milliseconds by) noexcept { start_ += by; }
  /// The machine sleeps: so much time passes in which nothing runs. What was due meanwhile runs
  /// late, in its order.
  void sleep(duration length) noexcept { now_ += length; }

  /// Runs the next event. False when there is none.
  bool step();
  /// Runs everything due within `length` and ends exactly that much later.
  void run_for(duration length);
  /// Runs until the condition holds. False when `limit` of virtual time passed, or no event was
  /// left.
  bool run_until(const std::function<bool()>& condition, duration limit);

  [[nodiscard]] seeded_draws& draws() noexcept { return draws_; }
  [[nodiscard]] std::size_t pending() const noexcept { return events_.size(); }
  [[nodiscard]] std::uint64_t events_run() const noexcept { return run_; }
  /// Digest of everything that was noted and of every event's time.
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_; }
  void note(std::uint64_t value) noexcept;

 private:
  duration now_{0};
  partita::timestamp start_;
  seeded_draws draws_;
  std::uint64_t run_ = 0;
  std::uint64_t trace_ = 0xcbf29ce484222325U;
  timed_events events_;
};

/// How the simulated network behaves.
struct link_options {
  std::chrono::microseconds latency_min{50};
  std::chrono::microseconds latency_max{500};
  double split = 0.2;     ///< probability that a delivery is cut in two at a random byte
  double disconnect = 0;  ///< probability per delivery that the connection ends instead
  std::size_t send_buffer_bytes = 256 * 1024;  ///< what a write takes before it pushes back
};

/// What is wrong with the way to one broker. Bytes are counted over all its connections, from now.
struct link_fault {
  /// The client can hand over so many more bytes; then its writes block.
  std::optional<std::size_t> stall_after{};
  /// So many more bytes reach the broker; then the connection that carried the last one is reset.
  std::optional<std::size_t> cut_after{};
  /// The same for bytes that reach the client.
  std::optional<std::size_t> cut_answers_after{};
  std::int64_t bytes_per_second = 0;  ///< in each direction of each connection; 0: no limit
};

struct simulation_options {
  cluster_options cluster{};
  link_options links{};
};

/// A cluster in virtual time, with in-memory connections to it.
class simulation {
 public:
  explicit simulation(const simulation_options& options = {});
  ~simulation();

  [[nodiscard]] virtual_time& time() noexcept;
  [[nodiscard]] testing::cluster& cluster() noexcept;
  /// Makes streams to the simulated brokers; what a producer under test is given as its network.
  [[nodiscard]] wire::transport& transport() noexcept;
  /// "broker-1:9092,broker-2:9092,...".
  [[nodiscard]] std::string bootstrap() const;

  /// A cut link delivers nothing, in neither direction, and refuses new connections by silence.
  void cut_link(broker_id broker);
  /// New connections to the broker are refused; those that exist stay.
  void refuse_link(broker_id broker);
  /// Ends both.
  void heal_link(broker_id broker);
  /// The broker has another address behind its name, which leads there after `visible_after`. The
  /// old one is silent from now on, for connections that exist and for new ones.
  void move_address(broker_id broker, std::chrono::nanoseconds visible_after);
  /// In place of what was set before; heal_link ends it.
  void set_link_fault(broker_id broker, const link_fault& fault);
  void set_links(const link_options& options);

  [[nodiscard]] std::uint64_t trace_hash() const noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace partita::testing
