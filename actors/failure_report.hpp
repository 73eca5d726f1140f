// What the application's failure handler gets to see of a failure: records are decoded when it asks
// for them.
//
// Threads: the partition's turn; lives for one call of the handler.
#pragma once

#include "actors/partition_effects.hpp"

#include <partita/failure_handler.hpp>

namespace partita::actors {

class failure_report final : public failure_view {
 public:
  failure_report(const failure_case& what, const failed& told) noexcept
      : what_(what), told_(told) {}

  [[nodiscard]] const failed& failure() const noexcept override { return told_; }
  [[nodiscard]] std::size_t count() const noexcept override;
  void for_each(record_visitor visit) const override;
  [[nodiscard]] std::size_t behind_count() const noexcept override;
  void for_each_behind(record_visitor visit) const override;

 private:
  void read(const batch& from, std::uint64_t behind, record_visitor visit) const;

  const failure_case& what_;
  const failed& told_;
};

}  // namespace partita::actors
