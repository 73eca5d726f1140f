#include "wire/messages/fetch.hpp"

namespace partita::wire {

PARTITA_WIRE_DEFINE_MESSAGE(fetch);

}  // namespace partita::wire
