// A blocking socket to the first of some bootstrap servers, for the programs that are no client.
//
// Threads: none.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace partita::bench {

/// "ADDRESS:PORT", more behind a comma; -1 when it does not work.
inline int connect_to(std::string_view bootstrap) {
  const std::size_t colon = bootstrap.find(':');
  if (colon == std::string_view::npos) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(bootstrap.data() + colon + 1)));
  const std::string host(bootstrap.substr(0, colon));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return -1;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  return socket;
}

}  // namespace partita::bench
