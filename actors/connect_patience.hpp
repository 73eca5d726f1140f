// How long one attempt to connect may take (KIP-601), and when its silence is worth a word. Pure.
//
// Invariants
// 1. Where another address is left to try, the first attempts are short: a broker that accepts and
//    then says nothing does not hold up the others. They grow until they are as long as for one
//    that is alone.
// 2. No attempt is longer than the longest limit, and none is over before it began.
//
// Threads: pure functions.
#pragma once

#include <algorithm>
#include <chrono>

namespace partita::actors {

struct connect_patience {
  std::chrono::milliseconds first{};    ///< socket.connection.setup.timeout.ms
  std::chrono::milliseconds longest{};  ///< and its .max

  /// After so many failures in a row; with `others`, as many rounds over all addresses.
  [[nodiscard]] std::chrono::milliseconds limit(int failures, bool others) const noexcept {
    const std::chrono::milliseconds end = std::max(first, longest);
    std::chrono::milliseconds result = others ? word_after() : first;
    for (int i = 0; i < failures && result < end; ++i) result = std::min(result * 2, end);
    return result;
  }

  /// From then on somebody wonders what the program is waiting for.
  [[nodiscard]] std::chrono::milliseconds word_after() const noexcept {
    constexpr std::chrono::milliseconds least = std::chrono::seconds(1);
    return std::min(first, std::max(first / 5, least));
  }
};

}  // namespace partita::actors
