// Bindings of text keys to members of producer_config, one template a kind of value.
//
// Invariants
// 1. What print() gives for a member within its bounds, parse() turns into the same value.
//
// Threads: pure functions.
#pragma once

#include "api/bootstrap_servers.hpp"
#include "api/config_keys.hpp"
#include "api/config_text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace partita {

template <class Binding>
constexpr key_binding bind() noexcept {
  key_binding binding{&Binding::parse, &Binding::print, &Binding::in_bounds, &Binding::bounds};
  if constexpr (requires { &Binding::explain; }) binding.explain = &Binding::explain;
  return binding;
}

inline std::int64_t count_of(int value) noexcept { return value; }
inline std::int64_t count_of(std::size_t value) noexcept {
  constexpr auto top = std::numeric_limits<std::int64_t>::max();
  return value > static_cast<std::size_t>(top) ? top : static_cast<std::int64_t>(value);
}
template <class Period>
std::int64_t count_of(std::chrono::duration<std::int64_t, Period> value) noexcept {
  return value.count();
}

/// A whole number. Scale: units of the member in one unit of the key (`.kbytes`: 1024).
template <auto Member, std::int64_t Low, std::int64_t High, std::int64_t Scale = 1>
struct number_key {
  using member_type = std::remove_reference_t<decltype(std::declval<producer_config&>().*Member)>;
  static_assert(High <= std::numeric_limits<std::int64_t>::max() / Scale);

  static parse_result parse(producer_config& config, std::string_view text) {
    const auto number = parse_whole(text);
    if (!number) return parse_result::malformed;
    if (*number < Low || *number > High) return parse_result::out_of_bounds;
    config.*Member = static_cast<member_type>(*number * Scale);
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) {
    return std::to_string(count_of(config.*Member) / Scale);
  }
  static bool in_bounds(const producer_config& config) {
    const std::int64_t count = count_of(config.*Member);
    return count >= Low * Scale && count <= High * Scale;
  }
  static std::string bounds() { return std::to_string(Low) + " to " + std::to_string(High); }
};

/// A buffer size of Java's, where -1 means what 0 means here: the system's default.
template <auto Member, std::int64_t High>
struct java_buffer_key : number_key<Member, 0, High> {
  static parse_result parse(producer_config& config, std::string_view text) {
    return number_key<Member, 0, High>::parse(config, trimmed(text) == "-1" ? "0" : text);
  }
  static std::string bounds() { return "-1 to " + std::to_string(High); }
};

/// Milliseconds with up to three decimals, into a member of microseconds.
template <auto Member, std::int64_t Low, std::int64_t High>
struct fraction_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    const auto thousandths = parse_thousandths(text);
    if (!thousandths) return parse_result::malformed;
    if (*thousandths < Low * 1000 || *thousandths > High * 1000) return parse_result::out_of_bounds;
    config.*Member = std::chrono::microseconds{*thousandths};
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) {
    return print_thousandths((config.*Member).count());
  }
  static bool in_bounds(const producer_config& config) {
    const auto count = (config.*Member).count();
    return count >= Low * 1000 && count <= High * 1000;
  }
  static std::string bounds() {
    return std::to_string(Low) + " to " + std::to_string(High) + ", up to three decimals";
  }
};

/// A level of compression, where `Unset` stands for the codec's own.
template <auto Member, int Low, int High, int Unset>
struct level_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    if (text == "default") {
      config.*Member = std::nullopt;
      return parse_result::ok;
    }
    const auto number = parse_whole(text);
    if (!number) return parse_result::malformed;
    if (*number == Unset) {
      config.*Member = std::nullopt;
      return parse_result::ok;
    }
    if (*number < Low || *number > High) return parse_result::out_of_bounds;
    config.*Member = static_cast<int>(*number);
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) {
    const std::optional<int>& level = config.*Member;
    return level ? std::to_string(*level) : "default";
  }
  static bool in_bounds(const producer_config& config) {
    const std::optional<int>& level = config.*Member;
    return !level || (*level >= Low && *level <= High);
  }
  static std::string bounds() {
    std::string text = std::to_string(Low) + " to " + std::to_string(High) + ", or default";
    // An Unset out of the range of int can not be written, so it is not offered.
    return Unset == no_number ? text : text + " (" + std::to_string(Unset) + ")";
  }
  static constexpr int no_number = std::numeric_limits<int>::min();
};

template <auto Member>
struct bool_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    const auto value = parse_bool(text);
    if (!value) return parse_result::malformed;
    config.*Member = *value;
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) {
    return config.*Member ? "true" : "false";
  }
  static bool in_bounds(const producer_config&) { return true; }
  static std::string bounds() { return "true or false"; }
};

template <class Enum>
struct spelling {
  std::string_view name;
  Enum value;
};

/// One of a list of words. The first spelling of a value is the one that is printed.
template <auto Member, const auto& Spellings>
struct word_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    for (const auto& [name, value] : Spellings) {
      if (!equal_ignoring_case(name, trimmed(text))) continue;
      config.*Member = value;
      return parse_result::ok;
    }
    return parse_result::malformed;
  }
  static std::string print(const producer_config& config) {
    for (const auto& [name, value] : Spellings)
      if (value == config.*Member) return std::string(name);
    return std::to_string(static_cast<long long>(config.*Member));
  }
  static bool in_bounds(const producer_config& config) {
    for (const auto& [name, value] : Spellings)
      if (value == config.*Member) return true;
    return false;
  }
  static std::string bounds() {
    std::string words;
    for (const auto& [name, value] : Spellings)
      words += (words.empty() ? "" : ", ") + std::string(name);
    return words;
  }
};

template <auto Member, std::size_t SizeMax>
struct string_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    if (trimmed(text).size() > SizeMax) return parse_result::out_of_bounds;
    config.*Member = std::string(trimmed(text));
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) { return config.*Member; }
  static bool in_bounds(const producer_config& config) {
    return (config.*Member).size() <= SizeMax;
  }
  static std::string bounds() { return "at most " + std::to_string(SizeMax) + " bytes"; }
};

struct servers_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    if (!parse_bootstrap_servers(text).error.empty()) return parse_result::malformed;
    config.bootstrap_servers = std::string(trimmed(text));
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) { return config.bootstrap_servers; }
  static bool in_bounds(const producer_config& config) {
    return parse_bootstrap_servers(config.bootstrap_servers).error.empty();
  }
  static std::string bounds() { return "host:port, host:port, ..."; }
  static std::string explain(std::string_view text) { return parse_bootstrap_servers(text).error; }
};

}  // namespace partita
