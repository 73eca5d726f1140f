#include "actors/inbox.hpp"

#include <chrono>
#include <thread>

namespace partita::actors {

void await_link() noexcept { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

}  // namespace partita::actors
