// Puts a control command's answer into the operation that its caller awaits.
//
// Invariants
// 1. The operation is answered once: by the command, or as closed when the command ends unanswered.
//
// Threads: any, one at a time.
#pragma once

#include "actors/control_command.hpp"

#include <partita/operation.hpp>

namespace partita::detail {

template <class T>
class operation_reply final : public actors::control_reply {
 public:
  /// What an answer, an error too, means to the caller.
  using reader = T (*)(actors::control_answer& answer);

  operation_reply(operation_state<T>& state, reader read) : state_(&state), read_(read) {
    state_->retain();
  }
  operation_reply(const operation_reply&) = delete;
  operation_reply& operator=(const operation_reply&) = delete;
  ~operation_reply() override {
    if (!answered_) complete(make_error_code(client_errc::closed));
    state_->release();
  }

  void complete(actors::control_answer answer) noexcept override {
    answered_ = true;
    state_->result.emplace(read_(answer));
    state_->open();
  }

 private:
  operation_state<T>* state_;
  reader read_;
  bool answered_ = false;
};

}  // namespace partita::detail
