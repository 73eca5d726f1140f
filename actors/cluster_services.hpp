// What partitions and brokers ask of the producer's view of the cluster. Implemented by the
// metadata actor; calls only queue a command there.
//
// Threads: any.
#pragma once

#include <partita/ids.hpp>

#include <span>
#include <string_view>

namespace partita::actors {

class partition_actor;
struct leader_hints;

class cluster_services {
 public:
  /// Who leads may have changed. Many calls before the next request are one.
  virtual void refresh_metadata() noexcept = 0;
  /// An answer named leaders (KIP-951). Only what is newer than what is known counts.
  virtual void take_hints(leader_hints hints) noexcept = 0;
  /// Answered by a producer_id_command. `fresh`: an id that this producer has not used yet.
  virtual void want_producer_id(partition_actor& asking, bool fresh) noexcept = 0;

 protected:
  ~cluster_services() = default;
};

}  // namespace partita::actors
