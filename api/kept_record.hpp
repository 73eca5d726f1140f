// A record's own copy of what its caller gave as views, for one that has to wait.
//
// Threads: a value.
#pragma once

#include <partita/record.hpp>

#include <optional>
#include <vector>

namespace partita {

class kept_record {
 public:
  explicit kept_record(const record& what);
  kept_record(const kept_record&) = delete;
  kept_record& operator=(const kept_record&) = delete;
  kept_record(kept_record&&) noexcept = default;
  kept_record& operator=(kept_record&&) noexcept = default;

  /// Valid until this is moved or ends.
  [[nodiscard]] record view() const noexcept;
  /// To be handed back. `now` stands for the timestamp that it would have got.
  [[nodiscard]] owned_record owned(partita::timestamp now) const;

 private:
  owned_record owned_;
  std::vector<header> headers_;  // into owned_.headers, whose elements stay where they are
  std::optional<partition_id> partition_;
  std::optional<partita::timestamp> timestamp_;
};

}  // namespace partita
