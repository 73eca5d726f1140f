// One actor without CAF: its only queue, its turn, its lane. The CAF shell (ordered_actor) puts
// its messages into the same queue.
//
// Invariants
// 1. One order: commands and foreign messages are processed in the order of their pushes (L5).
// 2. What is pushed from inside the actor's own turn (a callback that produces, pauses or sends a
//    message) is processed before the next queued command, in its own order: the front list.
// 3. A turn is bounded, and no exception ends the actor.
// 4. After the stop every node was handed to on_command() or on_refused(), and later pushes are
//    refused to their pushers.
//
// Threads: push() and request_stop() from any thread; move_to() inside the own turn.
#pragma once

#include "actors/actor_body.hpp"
#include "actors/inbox.hpp"
#include "actors/lane.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace partita::actors {

/// What is around a cell: it takes the nodes of kind foreign_message, and hears of the end.
class cell_shell {
 public:
  /// Takes ownership. In the actor's turn.
  virtual void on_foreign_message(command& what) = 0;
  /// The actor stops: answers the sender, takes ownership.
  virtual void refuse_foreign_message(command& what) noexcept = 0;
  /// The last step of the stop, on the lane, after the body's on_stopped(). The shell may be gone
  /// when this returns, and the cell with it.
  virtual void on_cell_stopped() noexcept = 0;

 protected:
  ~cell_shell() = default;
};

/// Where an exception that a body let out is reported. It never ends the actor.
using exception_hook = void (*)(void* context, std::exception_ptr what) noexcept;

class actor_cell final : public runnable {
 public:
  actor_cell(lane& home, std::unique_ptr<actor_body> body, cell_shell& shell);
  actor_cell(const actor_cell&) = delete;
  actor_cell& operator=(const actor_cell&) = delete;
  ~actor_cell();

  /// Queues a command; to the front list when called inside the own turn. False: the actor has
  /// stopped, the node is still the caller's, who answers it. Touches no reference count.
  [[nodiscard]] bool push(command& what) noexcept;

  /// As push(), for a command that can wait while the actor dozes (actor_body::patience()).
  [[nodiscard]] bool push_patiently(command& what, std::uint32_t weight) noexcept;

  /// On its lane, outside its turn: the reason to wait is gone. What came meanwhile gets its turn.
  void end_doze() noexcept;

  /// On its lane: processes the commands of this kind that are next in the queue, as in a turn, but
  /// without its end. Whether there were any. No effect inside the own turn.
  bool read_unread(command_kind kind) noexcept;

  /// As push(), for code that knows it is inside the own turn (a contract).
  void push_front_list(command& what) noexcept;

  /// This thread is inside this actor's turn.
  [[nodiscard]] bool in_turn() const noexcept { return current_ == this; }
  /// The cell whose turn this thread is in, or null.
  static actor_cell* current() noexcept { return current_; }

  /// Schedules the first turn, in which the body starts. Once.
  void start() noexcept;

  /// In the own turn: hands a command to the body at once, in place of a foreign message.
  void deliver(command& what) noexcept;

  /// The actor ends in its next turn, before its next command; what is queued is refused. A flag,
  /// not a message: nothing has to be processed before it.
  void request_stop() noexcept;
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }

  /// From the next turn on the actor runs on `other`. Inside the own turn. The body must have
  /// cancelled its timers and given back its segments, which belong to the lane.
  void move_to(lane& other) noexcept;
  /// The lane of the current turn, or of the next one.
  [[nodiscard]] lane& home() const noexcept { return *home_.load(std::memory_order_acquire); }

  [[nodiscard]] actor_body& body() noexcept { return *body_; }
  [[nodiscard]] cell_shell& shell() noexcept { return shell_; }
  /// When no lane runs any more: destroys the body, which may hold what belongs to a lane.
  void release_body() noexcept;

  void report_exceptions_to(exception_hook hook, void* context) noexcept {
    exception_hook_ = hook;
    exception_context_ = context;
  }
  [[nodiscard]] std::uint64_t exceptions() const noexcept {
    return exceptions_.load(std::memory_order_relaxed);
  }

  turn_result run(lane& here, const turn_limits& limits) noexcept override;

 private:
  enum class phase : std::uint8_t { created, running, stopped };

  command* next_command() noexcept;
  bool push_from_outside(command& what) noexcept;
  bool accept(push_result how) noexcept;
  void process(command& what) noexcept;
  void refuse(command& what) noexcept;
  void refuse_all(command_list& list) noexcept;
  void finish() noexcept;
  template <class Code>
  void guarded(Code&& code) noexcept;

  static thread_local constinit actor_cell* current_;

  inbox inbox_;
  std::atomic<lane*> home_;
  command_list front_;    // pushed inside the own turn
  command_list pending_;  // taken from the inbox, not yet processed
  std::unique_ptr<actor_body> body_;
  cell_shell& shell_;
  phase phase_ = phase::created;
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> stopped_{false};
  command start_node_{nullptr, command_kind::wake, 0, 0};
  command stop_node_{nullptr, command_kind::wake, 0, 0};
  exception_hook exception_hook_ = nullptr;
  void* exception_context_ = nullptr;
  std::atomic<std::uint64_t> exceptions_{0};
};

/// A light handle: a pointer to the cell, valid as long as the runtime that spawned it.
class ordered_actor_handle {
 public:
  ordered_actor_handle() noexcept = default;
  explicit ordered_actor_handle(actor_cell& cell) noexcept : cell_(&cell) {}

  explicit operator bool() const noexcept { return cell_ != nullptr; }
  [[nodiscard]] actor_cell* cell() const noexcept { return cell_; }
  [[nodiscard]] bool push(command& what) const noexcept { return cell_->push(what); }
  [[nodiscard]] bool push_patiently(command& what, std::uint32_t weight) const noexcept {
    return cell_->push_patiently(what, weight);
  }
  [[nodiscard]] bool in_turn() const noexcept { return cell_->in_turn(); }
  void request_stop() const noexcept { cell_->request_stop(); }

  friend bool operator==(ordered_actor_handle, ordered_actor_handle) noexcept = default;

 private:
  actor_cell* cell_ = nullptr;
};

}  // namespace partita::actors
