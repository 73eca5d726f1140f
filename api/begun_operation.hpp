// The state of an operation that a producer begins.
//
// Threads: any.
#pragma once

#include "api/callback_reporter.hpp"

#include <partita/operation.hpp>

namespace partita::detail {

/// Held by nobody yet: the operation that is made of it is the first. What its callbacks throw is
/// told to `reporter`.
template <class T>
[[nodiscard]] operation_state<T>* begun_operation(callback_reporter& reporter) {
  auto* state = new operation_state<T>;
  state->report_to(reporter);
  return state;
}

}  // namespace partita::detail
