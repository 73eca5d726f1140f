// What a fault proxy does to one Produce request and its answer: chosen by seed, carried out on
// bytes.
//
// Threads: a chooser belongs to one thread; the functions on bytes are pure.
#pragma once

#include <partita/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace partita::chaos {

enum class frame_fault : std::uint8_t {
  none,
  drop_answer,    ///< executed, then both sides are cut instead of the answer
  mute,           ///< executed, and neither this answer nor any later one of the connection comes
  delay,          ///< executed, answered late
  cut_before,     ///< cut without a byte of the request having gone on
  cut_inside,     ///< all but the last byte goes on, then both sides are cut
  execute_late,   ///< cut, and the frame goes to the broker later, by another connection
  error_after,    ///< executed, answered with an error that says nothing
  error_instead,  ///< not executed, answered with an error that proves it
  swallow,        ///< not executed, and no answer; nor anything later of the connection
};
inline constexpr std::size_t frame_faults = 10;

std::string_view name(frame_fault fault) noexcept;

/// A fault with what it needs.
struct chosen_fault {
  frame_fault fault = frame_fault::none;
  std::chrono::milliseconds wait{0};  ///< delay and execute_late
  broker_errc code = broker_errc::none;
};

class fault_chooser {
 public:
  explicit fault_chooser(std::uint64_t seed) : random_(seed) {}
  /// One of a thousand frames in `per_mille` meets a fault.
  chosen_fault choose(int per_mille);

 private:
  std::mt19937_64 random_;
};

using bytes = std::vector<std::byte>;

/// A frame without its length prefix.
struct request_view {
  std::int16_t api_key = -1;
  std::int16_t version = 0;
  std::int32_t correlation_id = 0;
};
request_view look_at(std::span<const std::byte> request);

/// The answer, length prefix included, in which every partition of the request is refused by
/// `code`, without an offset. Empty if the request does not decode.
bytes refusal_of(std::span<const std::byte> request, broker_errc code);
/// The broker's answer with `code` in place of each success, offsets kept. Empty if it does not
/// decode.
bytes with_code(std::span<const std::byte> answer, std::int16_t version, broker_errc code);

}  // namespace partita::chaos
