#include <partita/config.hpp>

#include "api/config_keys.hpp"
#include "api/config_text.hpp"
#include "api/topic_name.hpp"
#include "wire/compression.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <chrono>
#include <string>

namespace partita {
namespace {

using config = producer_config;

/// A rule between members. `other` empty: the value of `key` alone is at fault.
struct config_rule {
  std::string_view key;
  std::string_view other;
  bool (*broken)(const config&);
  std::string_view reason;
};

bool level_out_of_range(const config& c) {
  // Codecs without levels take any, as in librdkafka.
  if (c.compression == compression::none || c.compression == compression::snappy) return false;
  const auto level = effective_compression_level(c);
  const auto codec = static_cast<wire::codec>(c.compression);
  return level && !wire::levels_of(codec).contains(*level);
}

bool delivery_too_short(const config& c) {
  using std::chrono::microseconds;
  return microseconds{c.delivery_timeout} < c.linger + microseconds{c.request_timeout};
}

constexpr config_rule rules[] = {
    {"acks", "enable.idempotence",
     [](const config& c) { return c.enable_idempotence && c.acks != acks::all; },
     "idempotence needs acks=all; without it set enable.idempotence=false"},
    {"retries", "enable.idempotence",
     [](const config& c) { return c.enable_idempotence && c.retries <= 0; },
     "idempotence needs retries > 0; without them set enable.idempotence=false"},
    {"max.in.flight.requests.per.connection", "enable.idempotence",
     [](const config& c) { return c.enable_idempotence && c.max_in_flight > 5; },
     "idempotence needs at most 5 in flight, because brokers remember five batches; for more set "
     "enable.idempotence=false"},
    {"delivery.timeout.ms", "request.timeout.ms", delivery_too_short,
     "delivery.timeout.ms must be at least linger.ms + request.timeout.ms"},
    {"batch.size", "max.request.size",
     [](const config& c) { return c.batch_size_bytes > c.max_request_size_bytes; },
     "a batch must fit into a request"},
    {"buffer.memory", "batch.size",
     [](const config& c) { return c.buffer_memory_bytes < c.batch_size_bytes; },
     "a batch must fit into the buffer"},
    {"compression.level", "compression.type", level_out_of_range,
     "gzip takes 1 to 9, lz4 0 to 17, zstd -131072 to 22"},
};

std::string value_of(const config& c, std::string_view key) {
  const config_key* row = find_key(key);
  return row != nullptr && row->binding.print != nullptr ? row->binding.print(c) : std::string{};
}

/// The key under which the level in use was given.
std::string_view level_key_of(const config& c) noexcept {
  if (c.compression == compression::gzip && c.compression_gzip_level)
    return "compression.gzip.level";
  if (c.compression == compression::lz4 && c.compression_lz4_level) return "compression.lz4.level";
  if (c.compression == compression::zstd && c.compression_zstd_level)
    return "compression.zstd.level";
  return "compression.level";
}

config_error breach_of(const config_rule& rule, const config& c) {
  const std::string_view key = rule.key == "compression.level" ? level_key_of(c) : rule.key;
  config_error error;
  error.kind = rule.other.empty() ? client_errc::invalid_value : client_errc::conflicting_values;
  error.key = std::string(key);
  error.value = value_of(c, key);
  error.reason = std::string(rule.reason);
  if (!rule.other.empty())
    error.reason += " (" + std::string(rule.other) + " = '" + value_of(c, rule.other) + "')";
  return error;
}

config_error bad_topic_name(const std::string& name) {
  config_error error;
  error.kind = client_errc::invalid_value;
  error.key = "on.failure.topics";
  error.value = name;
  error.reason = "not a topic's name";
  error.bounds = std::string(topic_name_rule);
  return error;
}

}  // namespace

std::string config_error::message() const {
  if (!*this) return {};
  std::string line = origin.empty() ? "" : origin + ": ";
  if (kind == client_errc::unknown_key) {
    line += "unknown key '" + shortened(key) + "'";
    return nearest.empty() ? line : line + "; did you mean '" + nearest + "'?";
  }
  line += key;
  const std::string shown = "'" + shortened(value) + "'";
  if (!value.empty() && !reason.starts_with(shown)) line += " = " + shown;
  line += kind == client_errc::conflicting_values ? " conflicts: " : ": ";
  line += reason;
  if (!bounds.empty()) line += "; accepted: " + bounds;
  return line;
}

config_error validate(const producer_config& config) {
  for (const config_key& row : own_keys()) {
    if (row.mark != key_mark::known || row.binding.in_bounds == nullptr) continue;
    if (row.binding.in_bounds(config)) continue;
    config_error error{.kind = client_errc::invalid_value,
                       .key = std::string(row.name),
                       .value = row.binding.print(config),
                       .origin = {},
                       .bounds = row.binding.bounds(),
                       .nearest = {},
                       .reason = "out of bounds"};
    if (row.binding.explain != nullptr) error.reason = row.binding.explain(error.value);
    return error;
  }
  for (const config_rule& rule : rules)
    if (rule.broken(config)) return breach_of(rule, config);
  for (const auto& [name, topic] : config.topics)
    if (!is_topic_name(name)) return bad_topic_name(name);
  return {};
}

std::optional<int> effective_compression_level(const producer_config& config) noexcept {
  const auto or_general = [&](const std::optional<int>& own) {
    return own ? own : config.compression_level;
  };
  switch (config.compression) {
    case compression::gzip:
      return or_general(config.compression_gzip_level);
    case compression::lz4:
      return or_general(config.compression_lz4_level);
    case compression::zstd:
      return or_general(config.compression_zstd_level);
    case compression::none:
    case compression::snappy:
      break;
  }
  return std::nullopt;
}

namespace {

/// Where the topic is, or has its place.
template <class Topics>
auto place_of(Topics& all, std::string_view name) {
  return std::lower_bound(all.begin(), all.end(), name,
                          [](const auto& each, std::string_view key) { return each.first < key; });
}

}  // namespace

topic_configs::topic_configs(std::initializer_list<value_type> topics) {
  for (const value_type& each : topics)
    if (!contains(each.first)) (*this)[each.first] = each.second;
}

topic_config& topic_configs::operator[](std::string_view name) {
  const auto at = place_of(all_, name);
  if (at != all_.end() && at->first == name) return at->second;
  return all_.insert(at, {std::string(name), {}})->second;
}

topic_configs::const_iterator topic_configs::find(std::string_view name) const noexcept {
  const auto at = place_of(all_, name);
  return at != all_.end() && at->first == name ? at : all_.end();
}

const topic_config& topic_configs::at(std::string_view name) const {
  const auto found = find(name);
  PARTITA_EXPECTS_OR_SAY(found != end(), "topics.at() was asked for a topic that is not there");
  return found->second;
}

std::size_t topic_configs::erase(std::string_view name) {
  const auto found = find(name);
  if (found == end()) return 0;
  all_.erase(found);
  return 1;
}

}  // namespace partita
