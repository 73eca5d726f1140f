// From a ticket to the partition that keeps it.
#include "api/producer_body.hpp"

#include <memory>
#include <utility>

namespace partita::detail {
namespace {

class settle_reply final : public actors::control_reply {
 public:
  explicit settle_reply(operation_state<settlement>& state) : state_(&state) { state_->retain(); }
  settle_reply(const settle_reply&) = delete;
  settle_reply& operator=(const settle_reply&) = delete;
  ~settle_reply() override {
    if (!answered_) finish(undecidable{client_errc::closed});
    state_->release();
  }
  void complete(actors::control_answer answer) noexcept override {
    if (auto* verdict = std::get_if<settlement>(&answer)) return finish(std::move(*verdict));
    const auto* why = std::get_if<std::error_code>(&answer);
    finish(undecidable{why == nullptr ? make_error_code(client_errc::closed) : *why});
  }

 private:
  void finish(settlement verdict) noexcept {
    answered_ = true;
    state_->result.emplace(std::move(verdict));
    state_->open();
  }

  operation_state<settlement>* state_;
  bool answered_ = false;
};

}  // namespace

operation<settlement> producer_body::settle(ticket which) {
  auto* state = new operation_state<settlement>;
  operation<settlement> result(*state);
  auto asked = std::make_unique<actors::control_command>(settle_request{which},
                                                         std::make_unique<settle_reply>(*state));
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
