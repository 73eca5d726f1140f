// The runs of load_rdkafka. Each tells its figures and returns an exit code.
//
// Threads: one calls them.
#pragma once

#include "bench/load.hpp"

namespace partita::bench {

int saturate(const arguments& given);
int pipeline(const arguments& given);
int fixed_rate(const arguments& given);
int one_silent(const arguments& given);
int closed_loop(const arguments& given);
int round_trip(const arguments& given);
int partitions(const arguments& given);
int curve(const arguments& given);
int backlog(const arguments& given);

}  // namespace partita::bench
