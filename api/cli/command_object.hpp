// A JSON object as a command: its members by name and type, each used once.
//
// Invariants
// 1. A member that nobody asked for is an error: a misspelt "tims" must not become the default.
// 2. The first error stands and names the member.
//
// Threads: one.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace partita::cli {

class command_object {
 public:
  explicit command_object(nlohmann::json object) : object_(std::move(object)) {}

  /// Empty: everything was understood so far.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  void refuse(std::string reason) {
    if (error_.empty()) error_ = std::move(reason);
  }
  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }

  [[nodiscard]] std::string text(const char* name, std::optional<std::string> otherwise = {});
  [[nodiscard]] bool flag(const char* name, bool otherwise);
  [[nodiscard]] double share(const char* name);  ///< 0 to 1, 0 when absent
  [[nodiscard]] std::chrono::milliseconds duration(const char* name);
  /// The member as an object, to be read as this one is; nothing when absent.
  [[nodiscard]] nlohmann::json object(const char* name);

  template <class Number>
  [[nodiscard]] Number number(const char* name, std::optional<Number> otherwise = {}) {
    return static_cast<Number>(
        integer(name, std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max(),
                otherwise ? std::optional<std::int64_t>{*otherwise} : std::nullopt));
  }
  /// The same, from `least` on. What counts has no other.
  template <class Number>
  [[nodiscard]] Number number_from(Number least, const char* name,
                                   std::optional<Number> otherwise = {}) {
    return static_cast<Number>(
        integer(name, least, std::numeric_limits<Number>::max(),
                otherwise ? std::optional<std::int64_t>{*otherwise} : std::nullopt));
  }
  template <class Number>
  [[nodiscard]] Number count(const char* name, std::optional<Number> otherwise = {}) {
    return number_from<Number>(0, name, otherwise);
  }
  /// An id, unset when the member is absent. `least` is -1 where that says "none".
  template <class Id>
  [[nodiscard]] std::optional<Id> optional_id(const char* name, typename Id::rep least = 0) {
    if (!has(name)) return std::nullopt;
    return Id{number_from<typename Id::rep>(least, name)};
  }
  /// One of the given words, or the first when absent.
  template <class Value, std::size_t Size>
  [[nodiscard]] Value choice(const char* name,
                             const std::pair<std::string_view, Value> (&choices)[Size]) {
    if (!has(name)) return choices[0].second;
    const auto word = text(name);
    for (const auto& [known, value] : choices)
      if (known == word) return value;
    refuse(std::string{name} + ": \"" + word + "\" is none of the words it may be");
    return choices[0].second;
  }

  /// Refuses members that were not read.
  void finish();

 private:
  const nlohmann::json* take(const char* name);
  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most,
                       std::optional<std::int64_t> otherwise);

  nlohmann::json object_;
  std::set<std::string, std::less<>> read_;
  std::string error_;
};

}  // namespace partita::cli
