// Applies a run of text settings as one: all of them, or none.
//
// Invariants
// 1. Within one run, a setting given under two names with different values is an error, except
// where
//    the table says which name prevails. The same name twice is Java's rule: the last one counts.
// 2. Values of secret and of unknown keys are never repeated.
//
// Threads: one.
#pragma once

#include <partita/properties.hpp>

#include "api/config_keys.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace partita {

class property_loader {
 public:
  explicit property_loader(const producer_config& start) : config_(start) {}

  [[nodiscard]] config_error apply(std::string_view key, std::string_view value,
                                   std::string_view origin);

  /// Hands over what was applied. `report` may be null.
  void commit(producer_config& config, config_report* report);

  config_report& report() noexcept { return report_; }

 private:
  struct setting {
    const config_key* row;        ///< the name it was given under
    const config_key* canonical;  ///< whose member it set
    std::string value;            ///< as the member prints
    std::string origin;
  };

  struct given;  // key, value and origin as handed in

  static config_error refusal(const config_key& row, const given& what, std::string_view reason);
  config_error apply_fixed(const config_key& row, const given& what);
  config_error apply_bound(const config_key& row, const given& what);
  setting* earlier_setting(const config_key& target) noexcept;
  void note(const given& what, std::string_view text);

  producer_config config_;
  config_report report_;
  std::vector<setting> settings_;  ///< at most one a known key
};

/// Replaces the references in a value; returns why it can't, or nothing.
using reference_expander = std::string(std::string& value);

/// load_properties() with references expanded by `expand`, which may be null.
config_error load_properties_expanded(producer_config& config, std::string_view text,
                                      std::string_view name, config_report* report,
                                      reference_expander* expand);

}  // namespace partita
