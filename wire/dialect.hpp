// How one message is encoded: its version, and whether lengths are compact and fields may be
// tagged. Travels once, from the frame to every field, so that no field decides for itself.
#pragma once

#include "wire/api_key.hpp"

#include <cstdint>

namespace partita::wire {

struct dialect {
  std::int16_t version = 0;
  bool flexible = false;

  friend constexpr bool operator==(dialect, dialect) noexcept = default;
};

/// The dialect of a message body. (The header of an ApiVersions answer is never flexible: KIP-511.)
template <class Message>
constexpr dialect dialect_of(std::int16_t version) noexcept {
  static_assert(Message::first_flexible == wire::first_flexible(Message::key),
                "a message and the table disagree on the first flexible version");
  return {version, version >= Message::first_flexible};
}

}  // namespace partita::wire
