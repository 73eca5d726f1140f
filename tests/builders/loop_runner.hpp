// Runs an Asio loop until a fact holds. The limit only keeps a broken test from hanging for ever.
//
// Threads: the test's.
#pragma once

#include <boost/asio/io_context.hpp>

#include <chrono>

namespace partita::testing {

/// False if the fact did not come to hold.
template <class Fact>
[[nodiscard]] bool run_until(boost::asio::io_context& loop, Fact fact) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!fact()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// Runs what is ready now, however long the chain, and waits for nothing.
inline void run_ready(boost::asio::io_context& loop) {
  loop.restart();
  while (loop.poll() != 0) loop.restart();
}

}  // namespace partita::testing
