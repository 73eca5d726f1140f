// The version of the headers, and of the library that was linked.
#pragma once

#define PARTITA_VERSION_MAJOR 0
#define PARTITA_VERSION_MINOR 1
#define PARTITA_VERSION_PATCH 0
#define PARTITA_VERSION_STRING "0.1.0"

namespace partita {

/// The name partita gives itself towards brokers (KIP-511), which accept [a-zA-Z0-9.-] only.
inline constexpr const char* software_name = "partita";
inline constexpr const char* software_version = PARTITA_VERSION_STRING;

}  // namespace partita
