// The list of brokers a producer starts from.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

struct bootstrap_server {
  std::string host;  ///< name or address; IPv6 without its brackets
  std::uint16_t port = 0;
  friend bool operator==(const bootstrap_server&, const bootstrap_server&) = default;
};

struct bootstrap_servers {
  std::vector<bootstrap_server> servers;
  std::string error;  ///< empty if the whole list is good; otherwise `servers` is empty
};

/// Reads "host, host:port, [::1]:port, PLAINTEXT://host:port". Without a port it is 9092. At least
/// one entry; as with librdkafka and Java, a comma too many is nothing, and twice is once.
[[nodiscard]] bootstrap_servers parse_bootstrap_servers(std::string_view text);

}  // namespace partita
