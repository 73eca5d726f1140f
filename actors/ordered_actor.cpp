#include "actors/ordered_actor.hpp"

#include "actors/actor_bridge.hpp"
#include "actors/lane_scheduler.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <caf/behavior.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>

#include <utility>

namespace partita::actors {

/// A CAF message as a node of our queue.
struct ordered_actor::wrapped_message : command {
  explicit wrapped_message(caf::mailbox_element_ptr what) : element(std::move(what)) {
    kind = command_kind::foreign_message;
  }
  caf::mailbox_element_ptr element;
};

namespace {

void answer_refusal(const caf::strong_actor_ptr& self, caf::mailbox_element& message,
                    std::error_code why) {
  if (refuse(self, message, why)) return;
  // Not one of our messages: a request still gets an answer.
  answer_with_error(self, message, to_caf_error(why));
}

}  // namespace

ordered_actor::ordered_actor(caf::actor_config& config, std::unique_ptr<actor_body> body,
                             const ordered_actor_options& options)
    : event_based_actor(config), options_(options), cell_(*options.home, std::move(body), *this) {}

ordered_actor::~ordered_actor() = default;

caf::strong_actor_ptr ordered_actor::strong_self() { return caf::strong_actor_ptr{ctrl()}; }

void ordered_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) {
  if (messages_waiting_.fetch_add(1, std::memory_order_relaxed) >= options_.messages_max) {
    messages_waiting_.fetch_sub(1, std::memory_order_relaxed);
    answer_refusal(strong_self(), *what, client_errc::buffer_full);
    return;
  }
  auto node = std::make_unique<wrapped_message>(std::move(what));
  if (cell_.push(*node)) {
    static_cast<void>(node.release());
    return;
  }
  messages_waiting_.fetch_sub(1, std::memory_order_relaxed);
  answer_refusal(strong_self(), *node->element, client_errc::closed);
}

// CAF's own launch would give the actor to its scheduler. This one runs when its cell is started.
void ordered_actor::launch(caf::execution_unit*, bool, bool hide) {
  if (!hide) register_at_system();
}

caf::resumable::resume_result ordered_actor::resume(caf::execution_unit*, std::size_t) {
  PARTITA_ASSERT(!"CAF's scheduler runs an ordered actor");
  return resumable::awaiting_message;
}

// Never asked for: messages are translated, not matched.
caf::behavior ordered_actor::make_behavior() { return {}; }

void ordered_actor::on_foreign_message(command& what) {
  const std::unique_ptr<wrapped_message> node(static_cast<wrapped_message*>(&what));
  messages_waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (auto meant = translate(strong_self(), *node->element)) {
    cell_.deliver(*meant.release());
    return;
  }
  // Exit and down messages included: applications can not end a partition from outside.
  answer_with_error(strong_self(), *node->element, caf::make_error(caf::sec::unexpected_message));
}

void ordered_actor::refuse_foreign_message(command& what) noexcept {
  const std::unique_ptr<wrapped_message> node(static_cast<wrapped_message*>(&what));
  messages_waiting_.fetch_sub(1, std::memory_order_relaxed);
  answer_refusal(strong_self(), *node->element, client_errc::closed);
}

void ordered_actor::on_cell_stopped() noexcept {
  // The listener may let the whole runtime end, so it is called last, and by a copy.
  stop_listener* const listener = options_.listener;
  const caf::strong_actor_ptr alive = strong_self();
  cleanup(caf::make_error(caf::exit_reason::user_shutdown), &options_.scheduler->unit());
  if (listener != nullptr) listener->on_actor_stopped();
}

}  // namespace partita::actors
