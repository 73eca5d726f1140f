#include "wire/messages/api_versions.hpp"

namespace partita::wire {

std::optional<version_range> api_versions_response::range_of(api_key which) const noexcept {
  for (const api& entry : apis)
    if (entry.key == static_cast<std::int16_t>(which) && entry.first <= entry.last)
      return version_range{entry.first, entry.last};
  return std::nullopt;
}

decoded<api_versions_response> decode_api_versions_answer(std::int16_t asked,
                                                          std::span<const std::byte> bytes) {
  // The error code comes first in every version, so it tells the form of what follows.
  decoder peek(bytes, dialect_of<api_versions_response>(0));
  const auto code = static_cast<broker_errc>(peek.integer<std::int16_t>());
  const bool fell_back = !peek.failed() && code == broker_errc::unsupported_version;
  return decode_response<api_versions_response>(fell_back ? std::int16_t{0} : asked, bytes);
}

PARTITA_WIRE_DEFINE_MESSAGE(api_versions);

}  // namespace partita::wire
