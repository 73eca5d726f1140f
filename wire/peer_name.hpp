// A peer as people write it: an IPv6 address stands in brackets in front of its port.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace partita::wire {

[[nodiscard]] inline std::string peer_name(std::string_view host, std::uint16_t port) {
  const bool bare = host.find(':') != std::string_view::npos && !host.starts_with('[');
  std::string name = bare ? "[" : "";
  name.append(host).append(bare ? "]:" : ":").append(std::to_string(port));
  return name;
}

}  // namespace partita::wire
