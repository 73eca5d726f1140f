// Partition actors as CAF handles. The only source of the api layer that sees CAF, through the
// public header.
#include <partita/caf.hpp>

#include "actors/actor_bridge.hpp"
#include "api/producer_body.hpp"

#include <partita/producer.hpp>

namespace partita {

caf::actor partition_handle(producer& owner, std::string_view topic, partition_id partition) {
  const auto* found = owner.body().find_partition(topic, partition);
  return found == nullptr ? caf::actor() : actors::actor_handle(found->handle);
}

}  // namespace partita
