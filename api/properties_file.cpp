// Settings from a file that the application names, with ${env:NAME} and ${file:path} in its values.
#include <partita/properties.hpp>

#include "api/property_loader.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace partita {
namespace {

constexpr std::size_t file_size_max = 1024 * 1024;
constexpr std::size_t referenced_size_max = 64 * 1024;

/// Absent with a reason where it can't be had.
std::optional<std::string> read_file(const std::string& path, std::size_t size_max,
                                     std::string& reason) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  reason = errno != 0 ? std::generic_category().message(errno) : "it cannot be opened";
  if (!file) return std::nullopt;
  std::string text(size_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // Directories open, and fail when they are read.
  reason = "it cannot be read; is it a directory?";
  if (file.bad() || (file.fail() && !file.eof())) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  reason = "it is over " + std::to_string(size_max / 1024) + " KiB";
  if (text.size() > size_max) return std::nullopt;
  return text;
}

/// What "provider:rest" stands for; absent with a reason where it can't be had.
std::optional<std::string> resolve(std::string_view provider, std::string_view rest,
                                   std::string& reason) {
  const std::string name(rest);
  if (provider == "env") {
    if (const char* value = std::getenv(name.c_str())) return value;
    reason = "the environment has no " + name;
    return std::nullopt;
  }
  if (provider == "file") {
    auto text = read_file(name, referenced_size_max, reason);
    if (!text) {
      reason = "the file " + name + ": " + reason;
      return std::nullopt;
    }
    // Files with one secret end in a line end that is no part of it.
    if (text->ends_with('\n')) text->pop_back();
    if (text->ends_with('\r')) text->pop_back();
    return text;
  }
  reason = "a reference to '" + std::string(provider) + "'; only env and file are known";
  return std::nullopt;
}

/// One pass: what a reference stands for is not looked at again.
std::string expand_references(std::string& value) {
  std::string expanded;
  std::string_view rest = value;
  for (;;) {
    const auto begin = rest.find("${");
    const auto end = begin == std::string_view::npos ? begin : rest.find('}', begin);
    if (end == std::string_view::npos) break;
    const std::string_view reference = rest.substr(begin + 2, end - begin - 2);
    const auto colon = reference.find(':');
    expanded += rest.substr(0, begin);
    if (colon == std::string_view::npos) {
      expanded += rest.substr(begin, end - begin + 1);
    } else {
      std::string reason;
      const auto text = resolve(reference.substr(0, colon), reference.substr(colon + 1), reason);
      if (!text) return reason;
      expanded += *text;
    }
    rest.remove_prefix(end + 1);
  }
  expanded += rest;
  value = std::move(expanded);
  return {};
}

}  // namespace

config_error load_properties_file(producer_config& config, const std::string& path,
                                  config_report* report) {
  std::string reason;
  const auto text = read_file(path, file_size_max, reason);
  if (!text)
    return {.kind = client_errc::invalid_value,
            .key = path,
            .value = {},
            .origin = {},
            .bounds = {},
            .nearest = {},
            .reason = std::move(reason)};
  return load_properties_expanded(config, *text, path, report, &expand_references);
}

}  // namespace partita
