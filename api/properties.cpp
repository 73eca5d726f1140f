#include <partita/properties.hpp>

#include "api/config_keys.hpp"
#include "api/config_text.hpp"
#include "api/property_loader.hpp"
#include "api/properties_grammar.hpp"

#include <algorithm>
#include <cstdlib>

namespace partita {
namespace {

constexpr std::size_t text_size_max = 1024 * 1024;

/// KAFKA_LINGER_MS for linger.ms.
std::string variable_of(std::string_view key) {
  std::string name = "KAFKA_";
  for (const char c : key) {
    const bool letter = c >= 'a' && c <= 'z';
    name.push_back(c == '.' || c == '-' ? '_' : letter ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return name;
}

/// Kafka's own scripts and images set variables whose names are keys by chance. KAFKA_DEBUG=y
/// starts a debugger; notes about keys that do nothing would be noise.
bool read_from_environment(const config_key& row) noexcept {
  return row.mark != key_mark::ignored && row.name != "debug" && !row.name.ends_with('*');
}

void note_two_readings(const property& entry, std::string_view origin, config_report& report) {
  const config_key* row = find_key(entry.key);
  if (row == nullptr || row->secret || entry.value == entry.kcat_value) return;
  report.notes.push_back(std::string(origin) + ": " + entry.key + " is read as '" + entry.value +
                         "' as Java does; kcat reads '" + entry.kcat_value + "'");
}

}  // namespace

config_error apply_property(producer_config& config, std::string_view key, std::string_view value,
                            std::string_view origin, config_report* report) {
  property_loader loader(config);
  if (config_error error = loader.apply(key, value, origin)) return error;
  loader.commit(config, report);
  return {};
}

config_error load_properties(producer_config& config, std::string_view text, std::string_view name,
                             config_report* report) {
  return load_properties_expanded(config, text, name, report, nullptr);
}

config_error load_properties_expanded(producer_config& config, std::string_view text,
                                      std::string_view name, config_report* report,
                                      reference_expander* expand) {
  if (text.size() > text_size_max)
    return {.kind = client_errc::invalid_value, .key = std::string(name), .reason = "over 1 MiB"};
  const properties parsed = parse_properties(text);
  const auto origin_of = [&](int line) { return std::string(name) + ":" + std::to_string(line); };
  if (!parsed.error.empty())
    return {.kind = client_errc::invalid_value,
            .key = "line",
            .origin = origin_of(parsed.error_line),
            .reason = parsed.error};

  property_loader loader(config);
  for (const property& entry : parsed.entries) {
    const std::string origin = origin_of(entry.line);
    std::string value = entry.value;
    if (expand != nullptr) {
      if (const std::string reason = expand(value); !reason.empty())
        return {.kind = client_errc::invalid_value,
                .key = entry.key,
                .origin = origin,
                .reason = reason};
    }
    if (config_error error = loader.apply(entry.key, value, origin)) return error;
    note_two_readings(entry, origin, loader.report());
  }
  loader.commit(config, report);
  return {};
}

config_error load_environment(producer_config& config, config_report* report) {
  property_loader loader(config);
  const auto apply_rows = [&](std::span<const config_key> rows) -> config_error {
    for (const config_key& row : rows) {
      if (!read_from_environment(row)) continue;
      const std::string variable = variable_of(row.name);
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr) continue;
      if (config_error error = loader.apply(row.name, value, "environment " + variable))
        return error;
    }
    return {};
  };
  if (config_error error = apply_rows(own_keys())) return error;
  if (config_error error = apply_rows(foreign_keys())) return error;
  loader.commit(config, report);
  return {};
}

std::vector<config_entry> describe(const producer_config& config, const config_report* report) {
  const producer_config defaults;
  std::vector<config_entry> entries;
  for (const config_key& row : own_keys()) {
    if (row.mark != key_mark::known) continue;
    config_entry entry{
        .key = std::string(row.name), .value = {}, .default_value = {}, .origin = {}, .alias = {}};
    if (row.accepts_some) {
      entry.value = entry.default_value = std::string(row.accepted);
    } else {
      entry.value = row.binding.print(config);
      entry.default_value = row.binding.print(defaults);
    }
    entry.origin = entry.value == entry.default_value ? "default" : "call";
    if (report != nullptr) {
      for (const config_origin& origin : report->origins) {
        if (origin.key != entry.key) continue;
        entry.origin = origin.origin;
        entry.alias = origin.alias;
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace partita
