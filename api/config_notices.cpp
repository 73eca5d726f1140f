#include "api/config_notices.hpp"

namespace partita {

std::vector<std::string> settings_without_effect(const producer_config& config) {
  std::vector<std::string> lines;
  if (!config.client_rack.empty())
    lines.emplace_back("client.rack has no effect: no request of a producer carries it");
  if (config.client_dns_lookup != dns_lookup::use_all_dns_ips)
    lines.emplace_back(
        "client.dns.lookup has no effect: all addresses of a name are tried either way, and "
        "without "
        "TLS and Kerberos nothing depends on the canonical name");
  if (config.buffer_records_max != 0)
    lines.emplace_back(
        "queue.buffering.max.messages has no effect: buffer.memory is the limit, bookkeeping "
        "included");
  if (config.statistics_interval.count() != 0)
    lines.emplace_back("statistics.interval.ms has no effect: call producer::status() when wanted");
  return lines;
}

}  // namespace partita
