// Blocking sockets on loopback, and Kafka's frames over them.
//
// Invariants
// 1. A frame is read whole or not at all, and no longer than a limit.
//
// Threads: each direction of a socket belongs to one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::chaos {

/// -1 when it can not be; errno says why. `port` 0: any.
int listen_on(std::uint16_t port);
int connect_to(std::uint16_t port);
void send_at_once(int socket);
/// Of a socket of ours.
std::uint16_t local_port(int socket);

bool write_all(int to, std::span<const std::byte> what);
/// A frame without its prefix. False: the end, or nothing of Kafka's.
bool read_frame(int from, std::vector<std::byte>& into);
bool write_frame(int to, std::span<const std::byte> frame);
/// The same without the last byte.
bool write_torn_frame(int to, std::span<const std::byte> frame);

}  // namespace partita::chaos
