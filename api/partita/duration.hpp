// Durations, time points and clocks: std::chrono without calendars and streams.
//
// Since C++20 the whole of <chrono> brings iostreams and locales along, about a tenth of what
// <partita/producer.hpp> costs to compile. libstdc++ (GCC 12 and later) has what is needed here in
// a part of its own; elsewhere this is <chrono>.
#pragma once

#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
