// What a failed record does to the records of its partition that come after it.
#pragma once

#include <cstdint>

namespace partita {

/// Chosen once per producer (`producer_config::on_failure`). "Fails" means for good: retries, as
/// far as the deadline allowed them, lie behind.
enum class failure_policy : std::uint8_t {
  skip,            ///< it alone fails; records behind it go on
  halt_partition,  ///< nothing of that partition passes until it is recovered
  halt_key,        ///< its key is halted in that partition; not available yet
  fail_following,  ///< everything buffered behind it fails too; not available yet
};

}  // namespace partita
