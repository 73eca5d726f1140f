// What a failed record does to the records of its partition that come after it.
#pragma once

#include <cstdint>

namespace partita {

/// Chosen per producer (`producer_config::on_failure`) and per topic (`producer_config::topics`).
/// "Fails" means for good: retries, as far as the deadline allowed them, lie behind.
enum class failure_policy : std::uint8_t {
  skip,            ///< it alone fails; records behind it go on
  halt_partition,  ///< nothing of that partition passes until it is recovered
  halt_key,        ///< its key is halted in that partition, other keys go on; a record without a
                   ///< key fails alone
  fail_following,  ///< everything buffered behind it in that partition fails too, in order; then
                   ///< the partition goes on
};

/// What becomes of new records while their key or their partition is halted.
enum class while_halted : std::uint8_t {
  refuse,  ///< answered at once: not_written, code halted, with the cause of the halt
  hold,    ///< they wait in order, within buffer.memory, their deadlines running
};

}  // namespace partita
