#include "wire/messages/metadata.hpp"

namespace partita::wire {

PARTITA_WIRE_DEFINE_MESSAGE(metadata);

}  // namespace partita::wire
