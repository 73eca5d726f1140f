#include "actors/actor_cell.hpp"

#include <partita/contract.hpp>

#include <new>
#include <utility>

namespace partita::actors {

thread_local constinit actor_cell* actor_cell::current_ = nullptr;

actor_cell::actor_cell(lane& home, std::unique_ptr<actor_body> body, cell_shell& shell)
    : home_(&home), body_(std::move(body)), shell_(shell) {
  PARTITA_EXPECTS(body_ != nullptr);
  body_->self_ = this;
}

actor_cell::~actor_cell() { PARTITA_ASSERT(front_.empty() && pending_.empty()); }

template <class Code>
void actor_cell::guarded(Code&& code) noexcept {
  try {
    code();
  } catch (const std::bad_alloc&) {
    // MEM-14. What the turn was about is lost, and with it outcomes: nothing true could follow.
    ::partita::detail::contract_broken_with(
        "ASSERT", "memory for a turn", "no memory for what an actor has to do, so the process ends",
        "", __FILE__, __LINE__);
  } catch (...) {
    exceptions_.fetch_add(1, std::memory_order_relaxed);
    if (exception_hook_ != nullptr) exception_hook_(exception_context_, std::current_exception());
  }
}

bool actor_cell::push_from_outside(command& what) noexcept { return accept(inbox_.push(what)); }

bool actor_cell::accept(push_result how) noexcept {
  switch (how) {
    case push_result::queued:
      return true;
    case push_result::wake:
      // Nobody else schedules it now, so it can neither run nor end before this line has.
      home_.load(std::memory_order_acquire)->schedule(*this);
      return true;
    case push_result::closed:
      return false;
  }
  return false;
}

bool actor_cell::push(command& what) noexcept {
  if (!in_turn()) return push_from_outside(what);
  if (phase_ == phase::stopped) return false;
  front_.push_back(what);
  return true;
}

bool actor_cell::push_patiently(command& what, std::uint32_t weight) noexcept {
  return in_turn() ? push(what) : accept(inbox_.push_patiently(what, weight));
}

void actor_cell::end_doze() noexcept {
  PARTITA_ASSERT(!in_turn());
  if (inbox_.end_doze(false)) home().schedule(*this);
}

bool actor_cell::read_unread(command_kind kind) noexcept {
  if (in_turn() || phase_ != phase::running) return false;
  actor_cell* const outer = std::exchange(current_, this);
  bool any = false;
  pending_.append(inbox_.take_unread());
  while (command* what = front_.empty() ? pending_.front() : front_.front()) {
    if (what->kind != kind || stop_requested_.load(std::memory_order_acquire)) break;
    process(*next_command());
    any = true;
  }
  const bool more = !front_.empty() || !pending_.empty();
  current_ = outer;
  if (more && inbox_.end_doze(true)) home().schedule(*this);
  return any;
}

void actor_cell::push_front_list(command& what) noexcept {
  PARTITA_EXPECTS(in_turn());
  PARTITA_EXPECTS(phase_ == phase::running);
  front_.push_back(what);
}

void actor_cell::start() noexcept {
  PARTITA_EXPECTS(phase_ == phase::created);
  push_from_outside(start_node_);
}

void actor_cell::request_stop() noexcept {
  // The flag is looked at before each command; the node wakes an idle actor, and is no command.
  if (!stop_requested_.exchange(true, std::memory_order_acq_rel)) push_from_outside(stop_node_);
}

void actor_cell::move_to(lane& other) noexcept {
  PARTITA_EXPECTS(in_turn());
  home_.store(&other, std::memory_order_release);
}

void actor_cell::release_body() noexcept {
  PARTITA_EXPECTS(phase_ == phase::stopped);
  body_.reset();
}

command* actor_cell::next_command() noexcept {
  // Re-entrant produce (a callback that produces into its own partition) at the back of the queue
  // would let records that were queued later in the program overtake it: 4 to 11 thousand reordered
  // pairs in the measured case, none with the front list.
  if (command* first = front_.pop_front()) return first;
  if (pending_.empty()) pending_.append(inbox_.take_all());
  return pending_.pop_front();
}

void actor_cell::process(command& what) noexcept {
  switch (what.kind) {
    case command_kind::wake:
      return;
    case command_kind::foreign_message:
      return guarded([&] { shell_.on_foreign_message(what); });
    default:
      return guarded([&] { body_->on_command(what); });
  }
}

void actor_cell::deliver(command& what) noexcept {
  PARTITA_EXPECTS(in_turn());
  PARTITA_EXPECTS(what.kind != command_kind::foreign_message);
  process(what);
}

turn_result actor_cell::run(lane& here, const turn_limits& limits) noexcept {
  PARTITA_ASSERT(phase_ != phase::stopped);
  PARTITA_ASSERT(&here == &home());
  actor_cell* const outer = std::exchange(current_, this);
  if (phase_ == phase::created) {
    phase_ = phase::running;
    guarded([&] { body_->on_started(*this); });
  }
  std::uint32_t commands = 0;
  std::uint64_t bytes = 0;
  while (commands < limits.commands && bytes < limits.bytes) {
    if (stop_requested_.load(std::memory_order_acquire)) {
      finish();
      current_ = outer;
      return turn_result::idle;  // and perhaps gone
    }
    command* what = next_command();
    if (what == nullptr) break;
    ++commands;
    bytes += what->weight;
    process(*what);
  }
  guarded([&] { body_->on_turn_end(); });

  const bool more = !front_.empty() || !pending_.empty();
  const std::int64_t patience = more ? 0 : body_->patience();
  lane& next_home = home();
  current_ = outer;
  // From a successful try_block() on another thread may be running this actor, or have ended it.
  if (!more && (patience > 0 ? inbox_.try_doze(patience) : inbox_.try_block()))
    return turn_result::idle;
  if (&next_home == &here) return turn_result::again;
  next_home.schedule(*this);
  return turn_result::idle;
}

void actor_cell::refuse(command& what) noexcept {
  switch (what.kind) {
    case command_kind::wake:
      return;
    case command_kind::foreign_message:
      return shell_.refuse_foreign_message(what);
    default:
      return body_->on_refused(what);
  }
}

void actor_cell::refuse_all(command_list& list) noexcept {
  while (command* what = list.pop_front()) refuse(*what);
}

// Answers what is left in the order in which it would have been processed. Callbacks that push from
// here are refused by push(), so the lists do not grow.
void actor_cell::finish() noexcept {
  phase_ = phase::stopped;
  command_list rest;
  rest.append(inbox_.close());
  refuse_all(front_);
  refuse_all(pending_);
  refuse_all(rest);
  guarded([&] { body_->on_stopped(); });
  stopped_.store(true, std::memory_order_release);
  shell_.on_cell_stopped();
}

}  // namespace partita::actors
