// Names the protocol of a peer that does not speak Kafka by its first bytes, so that the user reads
// "the port speaks TLS" in place of "an answer of 352518912 bytes" (KAFKA-4090, CONN-05). Pure.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <system_error>

namespace partita::wire {

/// client_errc::not_kafka_http, not_kafka_tls or not_kafka_ssh; no error when the bytes say
/// nothing. Four bytes suffice, as none of these prefixes is the length of an answer that is within
/// bounds.
[[nodiscard]] std::error_code sniff_peer(std::span<const std::byte> first_bytes) noexcept;

}  // namespace partita::wire
