// What a broker deduplicates a batch by: producer id, epoch and first sequence (L1), as one value.
#pragma once

#include <partita/ids.hpp>

namespace partita::wire {

struct batch_stamp {
  producer_id id;
  producer_epoch epoch;
  sequence base;

  /// All -1: not idempotent, nothing is deduplicated.
  [[nodiscard]] static constexpr batch_stamp none() noexcept { return {}; }
  [[nodiscard]] constexpr bool idempotent() const noexcept { return id.known(); }

  friend constexpr bool operator==(batch_stamp, batch_stamp) noexcept = default;
};

}  // namespace partita::wire
