// Answers that are wrong as frames: cut short, or of random bytes.
//
// Threads: pure; randomness is an argument.
#pragma once

#include <partita/testing/fault.hpp>
#include <partita/testing/virtual_time.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace partita::testing {

/// truncated: `cut_at` bytes behind the head, under a length that says so. garbage: random bytes
/// behind the head. cut_answer: the first `cut_at` bytes of the frame. Others: nothing.
void spoil(std::vector<std::byte>& frame, reply how, std::optional<std::size_t> cut_at,
           seeded_draws& draws);

}  // namespace partita::testing
