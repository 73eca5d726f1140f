// What an actor does, without CAF: the interface between an actor's queue and the plain class
// that carries out effects.
//
// Invariants
// 1. Calls come from one lane at a time, never concurrently; a later call sees what an earlier
// wrote.
// 2. Every command that was accepted comes to exactly one of on_command() and on_refused().
// 3. on_stopped() is the last call. The body is destroyed later, with the runtime.
//
// Threads: the lane of the actor.
#pragma once

#include "actors/inbox.hpp"

namespace partita::actors {

class actor_cell;
class lane;

class actor_body {
 public:
  virtual ~actor_body() = default;

  /// Before the first command. `self` outlives the body.
  virtual void on_started(actor_cell&) {}
  /// Takes ownership of the command.
  virtual void on_command(command& what) = 0;
  /// After a bounded run of commands: the place to send, seal and return in bulk.
  virtual void on_turn_end() {}
  /// After a turn that left nothing to do: how much may come by push_patiently() before it wants
  /// the next turn, in the unit of those who push. Above 0 it has a timer, or knows of a command to
  /// come, that ends the wait. 0: the first command wakes it.
  [[nodiscard]] virtual std::int64_t patience() noexcept { return 0; }
  /// The actor stops and will not carry it out: answers it (code `closed`), takes ownership.
  virtual void on_refused(command& what) noexcept = 0;
  /// All commands were answered; no call follows.
  virtual void on_stopped() noexcept {}

 protected:
  /// Set from the spawn on, so that other threads may push to it as soon as they know the body.
  [[nodiscard]] actor_cell* self() const noexcept { return self_; }

 private:
  friend class actor_cell;
  actor_cell* self_ = nullptr;
};

}  // namespace partita::actors
