// From a ticket to the partition that keeps it.
#include "api/begun_operation.hpp"
#include "api/operation_reply.hpp"
#include "api/producer_body.hpp"

#include <memory>
#include <utility>

namespace partita::detail {
namespace {

settlement settlement_of(actors::control_answer& answer) {
  if (auto* verdict = std::get_if<settlement>(&answer)) return std::move(*verdict);
  const auto* why = std::get_if<std::error_code>(&answer);
  return undecidable{why == nullptr ? make_error_code(client_errc::closed) : *why};
}

}  // namespace

operation<settlement> producer_body::settle(ticket which) {
  auto* state = begun_operation<settlement>(reporter());
  operation<settlement> result(*state);
  auto asked = std::make_unique<actors::control_command>(
      settle_request{which}, std::make_unique<operation_reply<settlement>>(*state, &settlement_of));
  std::error_code wrong = shared_.tickets.judge(which);
  if (!wrong && !config_.enable_idempotence) wrong = client_errc::not_numbered;
  if (wrong) {
    asked->answer(settlement(undecidable{wrong}));
    return result;
  }
  const auto keeper = shared_.tickets.keeper_of(which);
  if (!keeper)
    asked->answer(settlement(undecidable{client_errc::ticket_expired}));
  else if (keeper->push(*asked))
    asked.release();
  else
    asked->answer(settlement(undecidable{client_errc::closed}));
  return result;
}

}  // namespace partita::detail
