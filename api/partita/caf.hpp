// Optional: partita for CAF actors. Requests, answers and delivery reports as messages.
//
// A partition's handle understands pause_request, resume_request, halt_request, recover_request,
// flush_request, status_request, produce_request, settle_request, subscribe_request and
// unsubscribe_request. They are processed in one order with everything else that happens to the
// partition. `request()` is answered with control_done, partition_status, tally, recovery_report or
// settlement, or with a caf::error (see to_error_code()); a plain send is answered by a plain
// message, control_failure in place of an error. Outcomes of records come as delivery_report, one
// message per run of a batch: sent in the partition's turn, as soon as they are known, before any
// later command acts and before the answer of any later request.
//
// The handle belongs to an actor system of ours: it runs on our lanes, whoever sends. An exit
// message does not end it. Messages can't be sent over the network.
#pragma once

#include <partita/control.hpp>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/error.hpp>

#include <string_view>
#include <system_error>

namespace partita {

class producer;

/// The actor of a partition, for messages. Empty while the topic's partitions are not known
/// (produce or flush to it first), or when there is no such partition. Valid as long as the
/// producer; it keeps neither alive.
[[nodiscard]] caf::actor partition_handle(producer& owner, std::string_view topic,
                                          partition_id partition);

/// In place of an error, to the sender of a plain message.
struct control_failure {
  std::error_code code{};
};

/// Category of the caf::error whose code is a client_errc / a broker_errc (modulo 256).
inline constexpr caf::atom_value caf_client_category = caf::atom("partita");
inline constexpr caf::atom_value caf_broker_category = caf::atom("kafka");

/// The code that a caf::error of ours carries; empty if it is not one of ours.
[[nodiscard]] std::error_code to_error_code(const caf::error& error);

}  // namespace partita

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::pause_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::resume_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::halt_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::recover_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::flush_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::status_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::produce_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::subscribe_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::unsubscribe_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::settle_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::settlement)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::control_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::control_failure)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::partition_status)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::recovery_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::tally)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::partition_event)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::partita::delivery_report)
