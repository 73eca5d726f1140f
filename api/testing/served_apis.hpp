// The APIs and versions that the simulated brokers offer, by the version of Kafka they emulate.
//
// Invariants
// 1. Produce is offered from version 0 on but served from 3 on: librdkafka takes the absence of
// version 0
//    for the absence of compression (KAFKA-18659), so Kafka 4.x does the same.
//
// Threads: constants.
#pragma once

#include "wire/api_key.hpp"

#include <partita/testing/cluster.hpp>

#include <span>

namespace partita::testing {

struct served_api {
  wire::api_key key;
  wire::version_range offered;
  wire::version_range served;
};

/// In the order of ApiVersions.
std::span<const served_api> served_apis(emulation version) noexcept;

}  // namespace partita::testing
