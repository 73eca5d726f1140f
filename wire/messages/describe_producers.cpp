#include "wire/messages/describe_producers.hpp"

namespace partita::wire {

PARTITA_WIRE_DEFINE_MESSAGE(describe_producers);

}  // namespace partita::wire
