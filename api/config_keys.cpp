#include "api/config_keys.hpp"

#include "api/config_text.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita {
namespace {

// A longer name is no slip of the pen, and comparing it would cost more than it is worth.
constexpr std::size_t compared_size_max = 128;

const config_key* find_exact(std::span<const config_key> rows, std::string_view name) noexcept {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const config_key& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

bool is_prefix_row(const config_key& row) noexcept { return row.name.ends_with('*'); }

std::string cell(std::string_view text) {
  return text.empty() ? " |" : " " + std::string(text) + " |";
}

std::string code_cell(std::string_view text) {
  return text.empty() ? " |" : " `" + std::string(text) + "` |";
}

std::string_view word_of(key_mark mark) noexcept {
  switch (mark) {
    case key_mark::known:
      return "known";
    case key_mark::alias:
      return "alias";
    case key_mark::mapped:
    case key_mark::ignored:
      return "no effect";
    case key_mark::refused:
      return "refused";
  }
  return "";
}

}  // namespace

const config_key* find_key(std::string_view name) noexcept {
  if (const config_key* row = find_exact(own_keys(), name)) return row;
  if (const config_key* row = find_exact(foreign_keys(), name)) return row;
  for (const config_key& row : foreign_keys())
    if (is_prefix_row(row) && name.starts_with(row.name.substr(0, row.name.size() - 1)))
      return &row;
  return nullptr;
}

const config_key& canonical(const config_key& row) noexcept {
  if (row.of.empty()) return row;
  const config_key* known = find_exact(own_keys(), row.of);
  PARTITA_ASSERT(known != nullptr && known->of.empty());
  return *known;
}

std::string_view nearest_key(std::string_view name) {
  if (name.size() > compared_size_max) return {};
  const std::string wanted = lower_case(name);
  std::string_view nearest;
  // Half the letters wrong is another word.
  std::size_t distance = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  const auto consider = [&](const config_key& row) {
    // A suggestion that would be refused or ignored helps nobody.
    if (is_prefix_row(row) || row.mark == key_mark::refused || row.mark == key_mark::ignored)
      return;
    const bool begins = row.name.size() > wanted.size() && row.name.starts_with(wanted) &&
                        row.name[wanted.size()] == '.';  // linger for linger.ms
    const std::size_t found = begins ? 1 : edit_distance(wanted, row.name);
    if (found >= distance) return;
    distance = found;
    nearest = row.name;
  };
  for (const config_key& row : own_keys()) consider(row);
  for (const config_key& row : foreign_keys()) consider(row);
  return nearest;
}

std::string known_keys_table() {
  const producer_config defaults;
  std::string table =
      "| Key | Member | Default | Values | Meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const config_key& row : own_keys()) {
    if (row.mark != key_mark::known) continue;
    table += "|" + code_cell(row.name) + code_cell(row.member);
    if (row.accepts_some)
      table += code_cell(row.accepted) + cell(row.accepted);
    else
      table += code_cell(row.binding.print(defaults)) + cell(row.binding.bounds());
    table += cell(row.note) + "\n";
  }
  return table;
}

std::string foreign_keys_table() {
  std::string table = "| Key | What happens | Why |\n| --- | --- | --- |\n";
  const auto add = [&](const config_key& row) {
    if (row.mark == key_mark::known) return;
    std::string what =
        row.of.empty() ? std::string(word_of(row.mark)) : "= `" + std::string(row.of) + "`";
    if (row.mark == key_mark::refused && row.accepts_some)
      what +=
          row.accepted.empty() ? ", unless empty" : ", except `" + std::string(row.accepted) + "`";
    table += "|" + code_cell(row.name) + cell(what) + cell(row.note) + "\n";
  };
  for (const config_key& row : own_keys()) add(row);
  for (const config_key& row : foreign_keys()) add(row);
  return table;
}

}  // namespace partita
