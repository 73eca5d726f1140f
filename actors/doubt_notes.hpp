// What a partition notes down about a batch in doubt, to decide when the log must be read (L10).
#pragma once

#include "actors/instant.hpp"
#include "actors/log_anchor.hpp"

#include <partita/ids.hpp>

#include <cstdint>
#include <optional>
#include <system_error>

namespace partita::actors {

enum class why_look : std::uint8_t {
  no_need,
  refused,  ///< 45, 47, 59: the broker's memory is not ours, so it may be there (L10 b)
  blocked,  ///< a lasting refusal that comes before the look at the numbers
};

struct doubt_notes {
  why_look look = why_look::no_need;
  instant patience{};       ///< until when a retry waits for a look that is not a must
  broker_id asked;          ///< the leader of the last attempt
  broker_id doubted_at;     ///< the leader that may have written it, if one surely got it
  leader_epoch doubted_in;  ///< the oldest in which it may have been written
  bool looked = false;      ///< since the last attempt
  bool latecomer = false;   ///< an attempt got no answer: a broker may execute it at any time
  bool kept = false;        ///< its tickets are in the settlement book
  partita::offset from;     ///< it does not lie before this
  std::optional<log_anchor> anchor;  ///< what ends there
  std::error_code undecided;         ///< why the log did not tell
};

}  // namespace partita::actors
