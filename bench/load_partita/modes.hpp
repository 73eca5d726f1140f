// The runs of load_partita. Each tells its figures and returns an exit code.
//
// Threads: one calls them.
#pragma once

#include "bench/load.hpp"

#include <partita/config.hpp>

namespace partita::bench {

int saturate(producer_config config, const arguments& given);
int pipeline(producer_config config, const arguments& given);
int fixed_rate(producer_config config, const arguments& given);
int one_silent(producer_config config, const arguments& given);
int closed_loop(producer_config config, const arguments& given);
int round_trip(producer_config config, const arguments& given);
int partitions(producer_config config, const arguments& given);
int curve(producer_config config, const arguments& given);
int backlog(producer_config config, const arguments& given);

}  // namespace partita::bench
