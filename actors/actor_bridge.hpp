// Between our commands and CAF messages: requests in, answers, reports and events out.
//
// Invariants
// 1. A request is translated when its turn has come, so it keeps its place in the order.
// 2. Every request is answered exactly once; a refused produce_request is answered by a report in
//    which every record is not_written.
// 3. What is sent to other actors is sent without an execution unit: they run at home.
//
// Threads: translate on the lane; refuse on any.
#pragma once

#include "actors/actor_cell.hpp"
#include "actors/completion.hpp"
#include "actors/control_command.hpp"

#include <caf/actor.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/mailbox_element.hpp>

#include <memory>
#include <system_error>

namespace partita::actors {

/// The command that a message means, or null: it is none of ours. `self` is the receiver.
[[nodiscard]] std::unique_ptr<control_command> translate(const caf::strong_actor_ptr& self,
                                                         caf::mailbox_element& message);

/// Answers a message that will not be carried out. False: not one of ours.
bool refuse(const caf::strong_actor_ptr& self, caf::mailbox_element& message, std::error_code why);

/// Answers a request that has no other answer; a plain message is dropped.
void answer_with_error(const caf::strong_actor_ptr& self, const caf::mailbox_element& message,
                       const caf::error& why);

/// Outcomes as delivery_report messages to `receiver`, one per run; `data` is the tag.
[[nodiscard]] std::shared_ptr<completion_target> make_actor_target(caf::strong_actor_ptr receiver);
[[nodiscard]] std::shared_ptr<completion_target> make_actor_target(const caf::actor& receiver);

/// The CAF handle of an actor that the runtime spawned, for applications. Empty if it has no CAF
/// shell.
[[nodiscard]] caf::actor actor_handle(ordered_actor_handle of);

[[nodiscard]] caf::error to_caf_error(std::error_code code);

}  // namespace partita::actors
