#include "wire/messages/init_producer_id.hpp"

namespace partita::wire {

PARTITA_WIRE_DEFINE_MESSAGE(init_producer_id);

}  // namespace partita::wire
