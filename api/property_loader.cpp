#include "api/property_loader.hpp"

#include "api/config_text.hpp"

#include <algorithm>
#include <utility>

namespace partita {

struct property_loader::given {
  std::string_view key;
  std::string_view value;
  std::string_view origin;
};

config_error property_loader::refusal(const config_key& row, const given& what,
                                      std::string_view reason) {
  return {.kind = client_errc::invalid_value,
          .key = std::string(what.key),
          .value = row.secret ? std::string{} : std::string(what.value),
          .origin = std::string(what.origin),
          .bounds = {},
          .nearest = {},
          .reason = std::string(reason)};
}

namespace {

bool accepts(const config_key& row, std::string_view value) {
  if (!row.accepts_some) return false;
  const auto words = split(row.accepted, ',');
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return equal_ignoring_case(word, trimmed(value));
  });
}

std::string_view reason_of(parse_result result) noexcept {
  return result == parse_result::out_of_bounds ? "out of bounds" : "not understood";
}

}  // namespace

config_error property_loader::apply(std::string_view key, std::string_view value,
                                    std::string_view origin) {
  const config_key* row = find_key(key);
  if (row == nullptr)
    return {.kind = client_errc::unknown_key,
            .key = std::string(key),
            .value = {},
            .origin = std::string(origin),
            .bounds = {},
            .nearest = std::string(nearest_key(key)),
            .reason = "unknown"};
  if (row->binding.parse != nullptr || !row->of.empty())
    return apply_bound(*row, {key, value, origin});
  return apply_fixed(*row, {key, value, origin});
}

/// Rows that set nothing.
config_error property_loader::apply_fixed(const config_key& row, const given& what) {
  switch (row.mark) {
    case key_mark::known:
    case key_mark::refused:
      if (accepts(row, what.value)) return {};
      {
        config_error error = refusal(row, what, row.note);
        if (row.accepts_some && !row.accepted.empty()) error.bounds = std::string(row.accepted);
        return error;
      }
    case key_mark::alias:
    case key_mark::mapped:
    case key_mark::ignored:
      break;
  }
  note(what, "has no effect: " + std::string(row.note));
  return {};
}

/// Rows that set a member.
config_error property_loader::apply_bound(const config_key& row, const given& what) {
  const config_key& target = canonical(row);
  const key_binding& binding = row.binding.parse != nullptr ? row.binding : target.binding;
  setting* earlier = earlier_setting(target);
  const bool two_names = earlier != nullptr && earlier->row != &row;

  producer_config changed = config_;
  const parse_result result = binding.parse(changed, what.value);
  if (result != parse_result::ok) {
    config_error error = refusal(row, what, reason_of(result));
    error.bounds = binding.bounds();
    if (binding.explain != nullptr) error.reason = binding.explain(what.value);
    if (row.mark == key_mark::mapped) error.reason = std::string(row.note);
    return error;
  }
  std::string printed = target.binding.print(changed);

  if (two_names && earlier->row->prevails) {
    note(what, "gives way to " + std::string(earlier->row->name) + " of " + earlier->origin);
    return {};
  }
  if (two_names && !row.prevails && earlier->value != printed) {
    config_error error = refusal(row, what, "");
    error.kind = client_errc::conflicting_values;
    error.reason = std::string(earlier->row->name) + " = '" + earlier->value + "' of " +
                   earlier->origin + " is the same setting";
    return error;
  }
  if (earlier != nullptr && !two_names && earlier->value != printed)
    note(what, "replaces the value of " + earlier->origin);
  if (row.mark == key_mark::mapped)
    note(what, "is taken as " + std::string(target.name) + "=" + printed);

  config_ = std::move(changed);
  if (earlier == nullptr) earlier = &settings_.emplace_back();
  *earlier = {&row, &target, std::move(printed), std::string(what.origin)};
  return {};
}

property_loader::setting* property_loader::earlier_setting(const config_key& target) noexcept {
  for (setting& known : settings_)
    if (known.canonical == &target) return &known;
  return nullptr;
}

void property_loader::note(const given& what, std::string_view text) {
  report_.notes.push_back(std::string(what.origin) + ": " + std::string(what.key) + " " +
                          std::string(text));
}

void property_loader::commit(producer_config& config, config_report* report) {
  config = std::move(config_);
  if (report == nullptr) return;
  for (std::string& line : report_.notes) report->notes.push_back(std::move(line));
  for (setting& known : settings_) {
    const std::string key(known.canonical->name);
    std::erase_if(report->origins, [&](const config_origin& old) { return old.key == key; });
    report->origins.push_back(
        {key, known.origin, known.row == known.canonical ? "" : std::string(known.row->name)});
  }
}

}  // namespace partita
