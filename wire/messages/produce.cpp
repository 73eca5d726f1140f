#include "wire/messages/produce.hpp"

namespace partita::wire {

PARTITA_WIRE_DEFINE_MESSAGE(produce);

}  // namespace partita::wire
