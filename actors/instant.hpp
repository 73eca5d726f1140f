// A moment of the steady clock, as it is handed to the cores. They never ask a clock themselves.
#pragma once

#include <chrono>

namespace partita::actors {

using instant = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

}  // namespace partita::actors
