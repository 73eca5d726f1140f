// A record that was produced with options: its own limits, and the way to it for whoever cancels
// it. It stands between the record and the receiver of its answer, wherever the record waits.
//
// Invariants
// 1. Its receiver gets one answer. The registrations at stop sources end before that, so that a
//    source that lives long does not grow.
// 2. ask() never calls user code: what it takes out is answered on a lane.
// 3. A cancellation is never lost between two places: whoever moves the record looks for it again.
// 4. Locks are taken in the order: route or line after this one's was released; this one's inside
//    theirs.
//
// Threads: ask() from any; the moves by whoever holds the record; buffered state by its partition.
#pragma once

#include "actors/actor_cell.hpp"
#include "actors/completion.hpp"
#include "actors/inbox.hpp"
#include "actors/instant.hpp"

#include <partita/produce_options.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

namespace partita::actors {

class topic_route;
class tracked_record;

inline constexpr command_kind cancel_command_kind{67};

/// Asks a partition to cancel a record. Part of the record, so that asking can not fail.
struct cancel_command : command {
  explicit cancel_command(tracked_record& record) noexcept : who(record) {
    kind = cancel_command_kind;
  }
  tracked_record& who;
};

/// Where a record waits for room.
class admission_place {
 public:
  /// True: it waits no more, and is answered `cancelled` on a lane.
  virtual bool withdraw() noexcept = 0;

 protected:
  ~admission_place() = default;
};

class tracked_record final : public completion_target {
 public:
  /// Registers at the stop sources. It goes with its last reference; the first one is the record's
  /// and goes with the answer.
  tracked_record(const produce_options& options, completion_slot receiver);

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  [[nodiscard]] const std::optional<std::chrono::milliseconds>& delivery_timeout() const noexcept {
    return delivery_timeout_;
  }
  [[nodiscard]] const std::optional<std::chrono::milliseconds>& admission_timeout() const noexcept {
    return admission_timeout_;
  }

  // Its way. False: it was cancelled, and is the caller's to answer.
  [[nodiscard]] bool enters_line(admission_place& place) noexcept;
  [[nodiscard]] bool leaves_line() noexcept;
  [[nodiscard]] bool enters_route(topic_route& route) noexcept;
  /// Admitted, and waits in its route for its key's old partition.
  void enters_drain(topic_route& route) noexcept;
  /// From now on only its partition ends it; a cancellation goes there.
  void enters_partition(ordered_actor_handle partition) noexcept;
  /// After it was queued in a line or a route: a cancellation may have looked for it too early.
  void is_queued() noexcept;

  /// Somebody wants it to end.
  [[nodiscard]] bool cancelled() const noexcept {
    return cancelled_.load(std::memory_order_acquire);
  }

  /// The same, or its admission was cancelled before it was over.
  [[nodiscard]] bool ended() const noexcept {
    std::lock_guard lock(mutex_);
    return is_ended();
  }

  // For its partition's turn.
  void buffered_as(std::uint64_t ordinal) noexcept { ordinal_ = ordinal; }
  [[nodiscard]] const std::optional<std::uint64_t>& ordinal() const noexcept { return ordinal_; }
  [[nodiscard]] bool answered() const noexcept;

  void complete(const completion_run& run) noexcept override;
  /// The record was not accepted: nobody is answered.
  void abandon() noexcept;

 private:
  enum class place : std::uint8_t { nowhere, line, route, drain, partition, answered };
  struct asker {
    tracked_record* self;
    bool for_admission;
    void operator()() const noexcept { self->ask(for_admission); }
  };
  ~tracked_record() = default;
  void ask(bool for_admission) noexcept;
  void look_for_it() noexcept;
  [[nodiscard]] bool in_route() const noexcept {
    return place_ == place::route || place_ == place::drain;
  }
  void end() noexcept;
  [[nodiscard]] bool is_ended() const noexcept;

  const completion_slot receiver_;
  const std::optional<std::chrono::milliseconds> delivery_timeout_;
  const std::optional<std::chrono::milliseconds> admission_timeout_;
  std::atomic<int> references_{1};
  std::atomic<bool> cancelled_{false};

  mutable std::mutex mutex_;
  place place_ = place::nowhere;
  bool admission_cancelled_ = false;
  bool told_partition_ = false;
  admission_place* line_ = nullptr;
  topic_route* route_ = nullptr;
  ordered_actor_handle partition_;

  std::optional<std::uint64_t> ordinal_;
  cancel_command command_;
  std::optional<std::stop_callback<asker>> by_token_;
  std::optional<std::stop_callback<asker>> by_handle_;
  std::optional<std::stop_callback<asker>> by_admission_;
};

}  // namespace partita::actors
