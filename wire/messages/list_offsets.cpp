#include "wire/messages/list_offsets.hpp"

namespace partita::wire {

PARTITA_WIRE_DEFINE_MESSAGE(list_offsets);

}  // namespace partita::wire
