#include "api/testing/spoiled_frame.hpp"

#include <algorithm>
#include <cstdint>

namespace partita::testing {
namespace {

constexpr std::size_t head_bytes = 8;  // length and correlation id

void write_length(std::vector<std::byte>& frame) {
  const auto length = static_cast<std::uint32_t>(frame.size() - 4);
  for (std::size_t i = 0; i < 4; ++i)
    frame[i] = static_cast<std::byte>(length >> (24 - 8 * i) & 0xff);
}

}  // namespace

void spoil(std::vector<std::byte>& frame, reply how, std::optional<std::size_t> cut_at,
           seeded_draws& draws) {
  if (how == reply::cut_answer) {
    frame.resize(std::min(frame.size(), cut_at ? *cut_at : draws.below(frame.size())));
    return;
  }
  if (frame.size() <= head_bytes + 1) return;
  const auto body = frame.size() - head_bytes;
  if (how == reply::truncated) {
    // At least one byte is missing, and by chance at least one is left.
    frame.resize(head_bytes + (cut_at ? std::min(*cut_at, body - 1) : 1 + draws.below(body - 1)));
    write_length(frame);
  } else if (how == reply::garbage) {
    for (std::size_t i = head_bytes; i < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(draws.next() & 0xff);
  }
}

}  // namespace partita::testing
