#include "api/bootstrap_servers.hpp"

#include "api/config_text.hpp"

#include <algorithm>

namespace partita {
namespace {

constexpr std::uint16_t default_port = 9092;
constexpr std::size_t host_size_max = 255;

/// Removes "PLAINTEXT://", which librdkafka accepts. Says what is wrong with any other scheme.
std::string strip_scheme(std::string_view& entry) {
  const auto end = entry.find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view scheme = entry.substr(0, end);
  if (equal_ignoring_case(scheme, "PLAINTEXT")) {
    entry.remove_prefix(end + 3);
    return {};
  }
  for (const std::string_view secure : {"SSL", "SASL_PLAINTEXT", "SASL_SSL"})
    if (equal_ignoring_case(scheme, secure))
      return "TLS and SASL are not available in this version";
  return "'" + shortened(scheme) + "://' is no scheme of a Kafka broker: leave it out";
}

/// Parts an entry into host and port; the port stays empty if there is none.
bool split_port(std::string_view entry, std::string_view& host, std::string_view& port) {
  if (!entry.empty() && entry.front() == '[') {
    const auto end = entry.find(']');
    if (end == std::string_view::npos) return false;
    host = entry.substr(1, end - 1);
    const std::string_view rest = entry.substr(end + 1);
    if (rest.empty()) return true;
    if (rest.size() < 2 || rest.front() != ':') return false;
    port = rest.substr(1);
    return true;
  }
  const auto colon = entry.find(':');
  host = entry.substr(0, colon);
  if (colon == std::string_view::npos) return true;
  port = entry.substr(colon + 1);
  // More than one colon is an IPv6 address without brackets, whose port can't be told.
  return !port.empty() && port.find(':') == std::string_view::npos;
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > host_size_max) return false;
  return std::none_of(host.begin(), host.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '/' || c == '@' || c == '[' || c == ']';
  });
}

std::string parse_entry(std::string_view entry, bootstrap_server& server) {
  const std::string quoted = "'" + shortened(entry) + "'";
  if (const std::string wrong = strip_scheme(entry); !wrong.empty()) return quoted + ": " + wrong;
  std::string_view host;
  std::string_view port;
  if (!split_port(entry, host, port)) return quoted + " is not host:port ([address]:port for IPv6)";
  if (!is_host(host)) return quoted + " has no valid host";
  server.host = std::string(host);
  server.port = default_port;
  if (port.empty()) return {};
  const auto number = parse_whole(port);
  if (!number || *number < 1 || *number > 65'535)
    return quoted + " has a port that is not 1 to 65535";
  server.port = static_cast<std::uint16_t>(*number);
  return {};
}

}  // namespace

bootstrap_servers parse_bootstrap_servers(std::string_view text) {
  bootstrap_servers result;
  for (const std::string_view entry : split(text, ',')) {
    if (entry.empty()) continue;
    bootstrap_server server;
    if (std::string error = parse_entry(entry, server); !error.empty()) return {{}, error};
    const auto known = std::find(result.servers.begin(), result.servers.end(), server);
    if (known == result.servers.end()) result.servers.push_back(std::move(server));
  }
  if (result.servers.empty()) return {{}, "at least one host:port is required"};
  return result;
}

}  // namespace partita
