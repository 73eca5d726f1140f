// What an application asks of a partition besides records, as a command in the partition's queue.
// Member functions, awaitables and CAF messages all become this.
//
// Invariants
// 1. A command is answered exactly once, also a produce_request (control_done when its records were
//    taken): answer(), or the destructor of an unanswered reply, which answers `closed`.
//
// Threads: made anywhere, answered on the actor's lane.
#pragma once

#include <partita/control.hpp>

#include "actors/inbox.hpp"

#include <memory>
#include <system_error>
#include <utility>
#include <variant>

namespace partita::actors {

using control_request = std::variant<pause_request, resume_request, recover_request, flush_request,
                                     status_request, produce_request, subscribe_request,
                                     unsubscribe_request, halt_request, settle_request>;

/// The error code says why it was not carried out.
using control_answer = std::variant<std::error_code, control_done, partition_status, tally,
                                    recovery_report, settlement>;

/// Where the answer goes.
class control_reply {
 public:
  virtual ~control_reply() = default;
  /// At most once.
  virtual void complete(control_answer answer) noexcept = 0;
};

class completion_target;
class partition_event_sink;

struct control_command : command {
  explicit control_command(control_request asked, std::unique_ptr<control_reply> to = nullptr)
      : request(std::move(asked)), reply(std::move(to)) {
    kind = command_kind::control;
  }

  /// Answers, if somebody waits for an answer.
  void answer(control_answer what) noexcept {
    if (auto to = std::move(reply)) to->complete(std::move(what));
  }

  control_request request;
  std::unique_ptr<control_reply> reply;
  /// produce_request: where the outcomes go (data = tag). Lives until every outcome was given:
  /// whoever takes the records keeps it.
  std::shared_ptr<completion_target> reports;
  /// subscribe_request: where the events go; unsubscribe_request: where they went.
  std::shared_ptr<partition_event_sink> events;
};

/// Answers a command that will not be carried out; of a produce_request every record is
/// not_written.
void refuse_control(std::unique_ptr<control_command> what, std::error_code why) noexcept;

/// Hears what happens to a partition.
class partition_event_sink {
 public:
  virtual ~partition_event_sink() = default;
  virtual void on_event(const partition_event& what) noexcept = 0;
  /// It needs no more events: whoever holds it may let go.
  [[nodiscard]] virtual bool ended() const noexcept { return false; }
  /// There will be no more events.
  virtual void end() noexcept {}
  [[nodiscard]] virtual bool same_receiver(const partition_event_sink& other) const noexcept {
    return this == &other;
  }
};

}  // namespace partita::actors
