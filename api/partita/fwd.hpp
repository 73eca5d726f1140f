// Forward declarations of the public types.
#pragma once

namespace partita {

class outcome;
class producer;
class produce_operation;
class partitioner;
struct delivered;
struct failed;
struct header;
struct owned_record;
struct producer_config;
struct record;
struct tally;
struct ticket;

}  // namespace partita
