// The key table: every text key we know, whatever we do with it. Parsing, printing, bounds, the
// environment, describe() and docs/configuration.md all come from it.
//
// Invariants
// 1. A name has one row. An alias names a known key, never another alias.
// 2. A known row binds one member of producer_config, and each member that text can set has exactly
//    one known row.
//
// Threads: constant data.
#pragma once

#include <partita/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace partita {

enum class key_mark : std::uint8_t {
  known,    ///< sets a member
  alias,    ///< sets the member of another key
  mapped,   ///< another client's idea, turned into ours or needless here; accepted with a note
  ignored,  ///< means nothing to a producer in C++; accepted with a note
  refused,  ///< not accepted, with an explanation
};

enum class parse_result : std::uint8_t { ok, malformed, out_of_bounds };

/// How a key and its member are tied. All null where no member is meant.
struct key_binding {
  parse_result (*parse)(producer_config&, std::string_view) = nullptr;
  std::string (*print)(const producer_config&) = nullptr;
  bool (*in_bounds)(const producer_config&) = nullptr;
  std::string (*bounds)() = nullptr;
  std::string (*explain)(std::string_view) =
      nullptr;  ///< why a text was not accepted, if it can say
};

struct config_key {
  std::string_view name;  ///< a trailing '*' stands for any rest
  key_mark mark = key_mark::known;
  std::string_view member{};  ///< of producer_config; for known rows
  std::string_view of{};      ///< the known key that an alias or mapped row sets
  key_binding binding{};
  std::string_view note{};  ///< what it does; why it is ignored or refused
  /// Values that are accepted although the row is refused, or known without a member, comma
  /// separated.
  std::string_view accepted{};
  bool accepts_some = false;  ///< `accepted` counts (it may hold the empty value alone)
  bool prevails = false;      ///< wins over the key it stands for when one file has both
  bool secret = false;        ///< its value is never repeated
};

/// The known keys in the order of the members, then aliases.
[[nodiscard]] std::span<const config_key> own_keys() noexcept;
/// Keys of the other clients that set nothing here.
[[nodiscard]] std::span<const config_key> foreign_keys() noexcept;

/// The row of a name, by prefix rows too; null for a name nobody knows.
[[nodiscard]] const config_key* find_key(std::string_view name) noexcept;
/// The row whose binding a row uses: itself, or the one it is an alias of.
[[nodiscard]] const config_key& canonical(const config_key& row) noexcept;
/// The known name most like this one; empty when none is near.
[[nodiscard]] std::string_view nearest_key(std::string_view name);

/// The tables of docs/configuration.md.
[[nodiscard]] std::string known_keys_table();
[[nodiscard]] std::string foreign_keys_table();

}  // namespace partita
