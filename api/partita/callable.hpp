// Whether a callback can be called at all. A null pointer would be called on a lane, where nobody
// sees who gave it.
//
// Threads: pure.
#pragma once

#include <type_traits>

namespace partita::detail {

/// A contract of whoever gives a callback.
void expect_callable(bool callable);

/// Null pointers and empty function objects are refused.
template <class Callback>
void expect_not_empty(const Callback& callback) {
  if constexpr (std::is_pointer_v<Callback> || std::is_member_pointer_v<Callback>) {
    expect_callable(callback != nullptr);
  } else if constexpr (std::is_constructible_v<bool, const Callback&> &&
                       !std::is_convertible_v<const Callback&, bool> &&
                       requires { callback == nullptr; }) {
    expect_callable(static_cast<bool>(callback));  // std::function and the like
  }
}

}  // namespace partita::detail
