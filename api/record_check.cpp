#include "api/record_check.hpp"

#include "api/topic_name.hpp"

#include <string_view>

namespace partita::detail {
namespace {

bool valid_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const int more = lead >= 0xc2 && lead <= 0xdf   ? 1
                     : lead >= 0xe0 && lead <= 0xef ? 2
                     : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                    : 0;
    if (more == 0 || text.size() - i <= static_cast<std::size_t>(more)) return false;
    std::uint32_t point = lead & (0x3fU >> more);
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xc0U) != 0x80U) return false;
      point = point << 6 | (next & 0x3fU);
    }
    const bool overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    if (overlong || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

}  // namespace

client_errc check_contents(const record& what) noexcept {
  return is_topic_name(what.topic) ? check_parts(what) : client_errc::invalid_topic;
}

client_errc check_parts(const record& what) noexcept {
  if (what.partition && what.partition->value < 0) return client_errc::invalid_partition;
  if (what.timestamp && what.timestamp->time_since_epoch().count() < 0)
    return client_errc::invalid_timestamp;
  for (const header& each : what.headers)
    if (!valid_utf8(each.key)) return client_errc::invalid_header;
  return {};
}

client_errc check_record(
    const record& what, const record_size& size, const record_limits& limits,
    const std::optional<std::chrono::milliseconds>& delivery_timeout) noexcept {
  const client_errc wrong = check_parts(what);
  if (wrong != client_errc{}) return wrong;
  if (wire::batch_builder::size_alone(size.tail) > limits.request_bytes_max ||
      size.cost > limits.memory_bytes)
    return client_errc::record_too_large;
  if (delivery_timeout && delivery_timeout->count() <= 0) return client_errc::delivery_timeout;
  return {};
}

}  // namespace partita::detail
