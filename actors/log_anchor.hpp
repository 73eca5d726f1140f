// A batch of ours that was acknowledged: by it a log is recognised as the one that we wrote to.
#pragma once

#include "wire/batch_stamp.hpp"

#include <partita/ids.hpp>

namespace partita::actors {

struct log_anchor {
  wire::batch_stamp stamp;
  partita::offset at;  ///< of its first record
};

}  // namespace partita::actors
