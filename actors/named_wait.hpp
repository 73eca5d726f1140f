// A wait that an application names, as the cores take it.
#pragma once

#include "actors/instant.hpp"

#include <algorithm>
#include <chrono>

namespace partita::actors {

/// However long: a century stands for ever, because more would run over in the clock's nanoseconds.
/// Less than nothing is nothing.
[[nodiscard]] constexpr duration wait_of(std::chrono::milliseconds named) noexcept {
  using std::chrono::milliseconds;
  return std::clamp(named, milliseconds(0), milliseconds(std::chrono::hours(24 * 36525)));
}

}  // namespace partita::actors
